# ends: ok
from sonde.interpreters.confined.child.confine import NUMBERS, ctypes

libc = ctypes.CDLL(None)
"ESCAPED" if libc.syscall(NUMBERS["seccomp"], 0, 0, 0) == 0 else "held"
