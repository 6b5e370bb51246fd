# ends: error
import traceback


def fail(*given, **named):
    raise RuntimeError


traceback.TracebackException.from_exception = fail
raise ValueError
