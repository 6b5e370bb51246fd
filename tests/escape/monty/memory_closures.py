kept = []
while True:
    n = len(kept)
    kept.append(lambda: n)
