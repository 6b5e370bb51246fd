# ends: ok
from sonde.interpreters.confined.child.confine import ctypes

libc = ctypes.CDLL(None)
tried = [libc.unshare(0x10000000), libc.unshare(0x20000), libc.setns(3, 0)]
"ESCAPED" if 0 in tried else "held"
