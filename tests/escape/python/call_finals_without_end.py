# ends: timeout | killed
while True:
    FINAL("x" * 1000)
