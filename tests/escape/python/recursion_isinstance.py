# ends: error RecursionError
deep = (int,)
for _ in range(100_000):
    deep = (deep,)
isinstance("x", deep)
