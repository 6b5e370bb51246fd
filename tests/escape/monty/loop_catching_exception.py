while True:
    try:
        while True:
            pass
    except Exception:
        continue
