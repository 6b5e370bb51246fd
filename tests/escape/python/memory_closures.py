# ends: error MemoryError | timeout | killed
f = lambda: 1
kept = []
while True:
    kept.append(lambda f=f, n=len(kept): (f, n))
