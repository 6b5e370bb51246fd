# ends: ok | error | killed
deep = iter([1])
for _ in range(1_000_000):
    deep = map(int, deep)
next(deep)
