# ends: error MemoryError | timeout | killed
set(range(10**9))
