# ends: error MemoryError | error OverflowError
("\t" * 1000).expandtabs(10**8)
