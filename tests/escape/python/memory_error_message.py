# ends: error | timeout
raise ValueError("x" * 100_000_000)
