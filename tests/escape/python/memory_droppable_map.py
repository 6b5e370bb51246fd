# ends: ok
# A newer kind of memory, which the kernel may drop: is it counted?
from sonde.interpreters.confined.child.confine import ctypes

libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
total = 0
for kind in (0x8, 0x3, 0xA, 0xC):
    for _ in range(16):
        at = libc.mmap(None, 64 << 20, 3, 0x20 | kind, -1, 0)
        if at in (None, 2**64 - 1):
            break
        ctypes.memset(at, 1, 64 << 20)
        total += 64 << 20
"ESCAPED" if total > 300 << 20 else f"held at {total >> 20}"
