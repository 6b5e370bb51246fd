# ends: error MemoryError | timeout | killed
kept = []
while True:
    kept.append(bytearray(1_000_000))
