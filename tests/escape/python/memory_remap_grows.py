# ends: ok
from sonde.interpreters.confined.child.confine import ctypes

libc = ctypes.CDLL(None, use_errno=True)
for function in (libc.mmap, libc.mremap):
    function.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.mremap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_int]
size = 1 << 20
at = libc.mmap(None, size, 3, 0x22, -1, 0)
while size < 1 << 30:
    at = libc.mremap(at, size, size * 2, 1)
    if at == 2**64 - 1:
        break
    size *= 2
    ctypes.memset(at, 1, size)
"ESCAPED" if size > 300 << 20 else f"held at {size >> 20}"
