# ends: ok | error | killed | timeout
import gc


def hook(phase, told):
    raise SystemExit


gc.callbacks.append(hook)
[[[]] for _ in range(100_000)]
