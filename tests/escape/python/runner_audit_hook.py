# ends: ok | error | killed | timeout
# breaks itself
import sys


def hook(event, given):
    raise SystemExit


sys.addaudithook(hook)
compile("1", "x", "exec")
