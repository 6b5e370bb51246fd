# ends: ok
from sonde.interpreters.confined.child.confine import ctypes

libc = ctypes.CDLL(None)
tried = {
    "dumpable": libc.prctl(4, 1, 0, 0, 0),
    "name": libc.prctl(15, b"root", 0, 0, 0),
    "seccomp off": libc.prctl(22, 0, 0, 0, 0),
    "parent death": libc.prctl(1, 0, 0, 0, 0),
    "timer": libc.prctl(29, 50_000, 0, 0, 0),
}
[name for name, result in tried.items() if result == 0 and print("ESCAPED", name)] or "held"
