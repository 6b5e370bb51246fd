# ends: error MemoryError
"1".zfill(10**10)
