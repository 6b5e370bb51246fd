# ends: error SystemExit
import atexit


@atexit.register
def forever():
    while True:
        pass


raise SystemExit
