# ends: ok | error
import builtins


def hook(*given, **named):
    raise SystemExit


builtins.__import__ = hook
