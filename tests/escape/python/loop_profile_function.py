import sys


def profiler(frame, event, argument):
    while True:
        try:
            while True:
                pass
        except BaseException:
            pass


sys.setprofile(profiler)
len("x")
