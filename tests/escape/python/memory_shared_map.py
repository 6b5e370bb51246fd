# ends: ok
from sonde.interpreters.confined.child.confine import ctypes

libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
got = [flags for flags in (0x21, 0x23, 0x8021) if libc.mmap(None, 1 << 20, 3, flags, -1, 0) != 2**64 - 1]
"ESCAPED" if got else "held"
