# A mapping of the stack's kind grows when it is touched below its end, and counts as stack, not as data.
from sonde.interpreters.confined.child.confine import ctypes

libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
total = 0
for n in range(100):
    at = libc.mmap((0x5000_0000_0000 + (n << 28)), 1 << 20, 3, 0x122 | 0x10, -1, 0)
    if at in (None, 2**64 - 1):
        break
    ctypes.memset(at, 1, 1 << 20)
    size = 1 << 20
    while size < 7 << 20:  # within the usual limit of a stack
        at -= 4096
        ctypes.memset(at, 1, 4096)
        size += 4096
    total += size
"ESCAPED" if total > 300 << 20 else f"held at {total >> 20}"
