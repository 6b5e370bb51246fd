# ends: error MemoryError
"x" * 10**12
