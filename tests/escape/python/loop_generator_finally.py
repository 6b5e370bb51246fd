# ends: killed
def stubborn():
    while True:
        try:
            yield 1
        except BaseException:
            pass


for _ in stubborn():
    try:
        while True:
            pass
    except BaseException:
        pass
