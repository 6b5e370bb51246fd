raise ValueError("x" * 60_000_000)
