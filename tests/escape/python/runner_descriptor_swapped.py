# ends: killed | error | ok
from sonde.interpreters.confined.child.confine import ctypes

libc = ctypes.CDLL(None)
"ESCAPED" if libc.dup2(2, 3) == 3 else "held"
