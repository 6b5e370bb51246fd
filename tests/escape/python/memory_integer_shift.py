# ends: error MemoryError | error OverflowError
1 << (10**11)
