# ends: ok
# What cannot be written is not counted as data; what was written and then made read-only is still there.
from sonde.interpreters.confined.child.confine import ctypes

libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
total = 0
while total < 600 << 20:
    at = libc.mmap(None, 32 << 20, 3, 0x22, -1, 0)
    if at == 2**64 - 1:
        break
    ctypes.memset(at, 1, 32 << 20)
    total += 32 << 20
    libc.mprotect(at, 32 << 20, 1)
"ESCAPED" if total > 300 << 20 else f"held at {total >> 20}"
