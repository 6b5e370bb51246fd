# ends: killed | timeout | error MemoryError
10 ** (10**9)
