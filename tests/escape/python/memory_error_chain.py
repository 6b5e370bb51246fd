error = None
for n in range(100_000):
    new = ValueError(n)
    new.__cause__ = error
    error = new
raise error
