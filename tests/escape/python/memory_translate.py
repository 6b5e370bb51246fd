# ends: error MemoryError
("x" * 1_000_000).translate({ord("x"): "y" * 1000})
