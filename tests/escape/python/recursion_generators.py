# ends: error | killed
def nest(inner):
    yield from inner


deep = iter([1])
for _ in range(200_000):
    deep = nest(deep)
list(deep)
