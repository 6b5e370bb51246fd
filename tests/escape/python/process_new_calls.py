# ends: ok | killed
# Calls by other numbers than the filter names: old, new, of the other table, and with high bits set.
from sonde.interpreters.confined.child.confine import ctypes

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
harmless = (500, 1000, 4095, 1 << 20, 0x2000_0000 + 2, -1)
"ESCAPED" if any(libc.syscall(ctypes.c_long(number), 0, 0, 0, 0) >= 0 for number in harmless) else "held"
