# ends: ok
from sonde.interpreters.confined.child.confine import ctypes

libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
plain = libc.mmap(None, 4096, 3, 0x22, -1, 0)
got = [libc.mmap(None, 4096, 7, 0x22, -1, 0) != 2**64 - 1, libc.mprotect(plain, 4096, 5) == 0]
"ESCAPED" if any(got) else "held"
