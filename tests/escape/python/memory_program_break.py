# ends: ok
from sonde.interpreters.confined.child.confine import ctypes

libc = ctypes.CDLL(None, use_errno=True)
libc.sbrk.restype = ctypes.c_void_p
libc.sbrk.argtypes = [ctypes.c_ssize_t]
total = 0
while total < 1 << 30:
    at = libc.sbrk(16 << 20)
    if at == 2**64 - 1:
        break
    ctypes.memset(at, 1, 16 << 20)
    total += 16 << 20
"ESCAPED" if total > 300 << 20 else f"held at {total >> 20}"
