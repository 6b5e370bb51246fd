# ends: error
import builtins

real = builtins.__import__


def hook(name, *rest):
    import math

    return real(name, *rest)


builtins.__import__ = hook
try:
    import json
finally:
    builtins.__import__ = real
