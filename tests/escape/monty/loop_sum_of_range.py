sum(range(10**12))
