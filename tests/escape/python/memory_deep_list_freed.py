nested = []
for _ in range(2_000_000):
    nested = [nested]
del nested
