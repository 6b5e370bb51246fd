# ends: timeout | killed
while True:
    try:
        open("x")
    except Exception:
        pass
