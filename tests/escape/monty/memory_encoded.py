kept = []
while True:
    kept.append(('é' * 1_000_000).encode())
