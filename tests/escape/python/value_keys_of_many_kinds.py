# ends: ok | error
FINAL({1: 1, None: 2, True: 3, 1.5: 4})
