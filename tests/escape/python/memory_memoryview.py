# ends: error MemoryError
kept = [memoryview(bytearray(1 << 20)).tolist() for _ in range(1000)]
