# ends: error MemoryError | timeout | killed
list(range(10**10))
