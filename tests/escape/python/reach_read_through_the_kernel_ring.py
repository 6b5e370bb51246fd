# ends: ok
from sonde.interpreters.confined.child.confine import ctypes

libc = ctypes.CDLL(None)
given = ctypes.create_string_buffer(120)
"ESCAPED" if libc.syscall(425, 4, given) >= 0 else "held"
