# ends: error | timeout | killed
FINAL(range(10**12))
