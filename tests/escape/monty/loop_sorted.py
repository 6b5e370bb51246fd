while True:
    sorted(range(1_000_000), reverse=True)
