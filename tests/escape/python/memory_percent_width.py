# ends: error MemoryError
"%01000000000d" % 1
