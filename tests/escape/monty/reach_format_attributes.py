found = '{0.__class__.__init__.__globals__}'.format(budget)
'ESCAPED' if 'import' in found else 'held'
