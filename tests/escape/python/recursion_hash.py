# ends: error | killed
deep = ()
for _ in range(500_000):
    deep = (deep,)
hash(deep)
