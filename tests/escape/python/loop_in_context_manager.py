# ends: timeout | killed | error
import contextlib


@contextlib.contextmanager
def stays():
    while True:
        try:
            yield
        except BaseException:
            pass


while True:
    with contextlib.suppress(BaseException), stays():
        while True:
            pass
