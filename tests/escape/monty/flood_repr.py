list(range(5_000_000))
