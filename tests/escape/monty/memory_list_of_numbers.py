list(range(10**10))
