[n for n in range(10**12) if n < 0]
