# ends: error MemoryError
bytes(10**11)
