# ends: ok
from sonde.interpreters.confined.child.confine import ctypes

libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
total = 0
for _ in range(64):
    at = libc.mmap(None, 64 << 20, 0, 0x4022, -1, 0)
    if at == 2**64 - 1 or libc.mprotect(at, 64 << 20, 3) != 0:
        break
    ctypes.memset(at, 1, 64 << 20)
    total += 64 << 20
"ESCAPED" if total > 300 << 20 else f"held at {total >> 20}"
