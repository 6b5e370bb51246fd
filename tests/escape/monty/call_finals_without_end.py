while True:
    FINAL("x" * 1000)
