# ends: killed | error | timeout
def again():
    while True:
        try:
            yield
        finally:
            while True:
                try:
                    [None for _ in range(1000)]
                except:  # noqa
                    pass


for _ in again():
    raise ValueError
