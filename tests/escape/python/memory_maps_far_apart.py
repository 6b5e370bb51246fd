# ends: ok
# Each page that lies far from the others needs tables of its own, which nothing counts.
from sonde.interpreters.confined.child.confine import ctypes

libc = ctypes.CDLL(None, use_errno=True)
for function in (libc.mmap, libc.mremap):
    function.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.mremap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_int, ctypes.c_void_p]
made = 0
for n in range(1000):
    place = 0x5000_0000_0000 + (n << 31)
    made += libc.mmap(place, 4096, 3, 0x22, -1, 0) == place
    made += libc.mmap(place, 4096, 3, 0x32, -1, 0) == place
    there = libc.mmap(None, 4096, 3, 0x22, -1, 0)
    made += libc.mremap(there, 4096, 4096, 3, place) == place
    apart = libc.mmap(None, 1 << 31, 0, 0x4022, -1, 0)
    made += apart != 2**64 - 1
"ESCAPED" if made > 10 else "held"
