# ends: error MemoryError
"".join(["x" * 1_000_000] * 1000)
