# ends: timeout
while True:
    pass
