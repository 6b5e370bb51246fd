kept = []
while True:
    kept.append([len(kept)])
