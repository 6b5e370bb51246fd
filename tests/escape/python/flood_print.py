# ends: timeout | ok
while True:
    print("x" * 1000)
