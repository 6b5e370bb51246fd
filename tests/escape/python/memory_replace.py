# ends: error MemoryError
("x" * 1_000_000).replace("x", "y" * 10_000)
