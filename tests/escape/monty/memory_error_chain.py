error = None
for n in range(200):
    try:
        raise ValueError("x" * 500_000)
    except ValueError as caught:
        error = caught
raise error
