# ends: ok | error | killed
import itertools

deep = iter([1])
for _ in range(1_000_000):
    deep = itertools.chain(deep, ())
next(deep)
