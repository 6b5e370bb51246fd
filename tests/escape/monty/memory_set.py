set(range(10**9))
