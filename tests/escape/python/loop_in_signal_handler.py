import signal


def handler(number, frame):
    while True:
        try:
            while True:
                pass
        except BaseException:
            pass


signal.signal(signal.SIGPROF, handler)
while True:
    pass
