found = [host_call, host_call_now]
host_call_now('rm', {})
'held'
