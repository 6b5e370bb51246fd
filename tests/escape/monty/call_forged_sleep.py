await host_call('sleep', {'until': 'never'})
