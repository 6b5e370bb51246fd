# ends: error RecursionError
nested = []
for _ in range(100_000):
    nested = [nested]
nested
