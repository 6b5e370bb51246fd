import sys


def tracer(frame, event, argument):
    while True:
        try:
            while True:
                pass
        except BaseException:
            pass


sys.settrace(tracer)
(lambda: 1)()
