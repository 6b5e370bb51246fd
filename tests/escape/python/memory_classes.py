# ends: error MemoryError | timeout | killed
kept = []
while True:
    kept.append(type(f"T{len(kept)}", (), {"x": [0] * 1000}))
