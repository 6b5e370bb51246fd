kept = []
while True:
    kept.append(('x ' * 1_000_000).split())
