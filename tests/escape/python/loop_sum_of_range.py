# ends: timeout | killed
sum(range(10**12))
