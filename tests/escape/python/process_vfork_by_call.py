# ends: ok
from sonde.interpreters.confined.child.confine import ctypes

libc = ctypes.CDLL(None)
"ESCAPED" if libc.fork() > 0 else "held"
