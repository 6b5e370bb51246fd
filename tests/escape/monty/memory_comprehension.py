[[0] * 1000 for _ in range(10**9)]
