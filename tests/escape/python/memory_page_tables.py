# ends: ok
# Memory that is only read costs nothing but the tables that describe it; of those there can be very many.
from sonde.interpreters.confined.child.confine import ctypes

libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
at = libc.mmap(None, 1 << 38, 1, 0x4022, -1, 0)
if at != 2**64 - 1:
    for n in range(1 << 17):
        ctypes.string_at(at + (n << 21), 1)
"ESCAPED" if at != 2**64 - 1 else "held"
