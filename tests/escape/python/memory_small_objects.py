# ends: error MemoryError | timeout | killed
kept = []
while True:
    kept.append([len(kept)])
