host_call_now('final', {'other': 1})
