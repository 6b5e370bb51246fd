FINAL(range(10**12))
