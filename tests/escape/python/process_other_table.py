# ends: killed | ok
# The call numbers of the x32 table reach the same kernel by other numbers.
from sonde.interpreters.confined.child.confine import ctypes

libc = ctypes.CDLL(None)
libc.syscall.restype = ctypes.c_long
got = libc.syscall(ctypes.c_long(0x4000_0000 + 2), b"/etc/passwd", 0)
"ESCAPED" if got >= 0 else "held"
