deep = ()
for _ in range(3_000_000):
    deep = (deep,)
del deep
