# ends: ok | error | killed
import functools

deep = int
for _ in range(200_000):
    deep = functools.partial(deep)
    deep = functools.partial(lambda f: f(), deep)
deep()
