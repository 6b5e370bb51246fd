context['x']
