# ends: error
from sonde.interpreters.confined.child.confine import ctypes

libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
for flags in (0x22, 0x4022, 0x8022, 0x1_0022, 0x4_0022):  # private, without reserve, populated, for a stack, huge
    total = 0
    while total < 1 << 40:
        at = libc.mmap(None, 64 << 20, 3, flags, -1, 0)
        if at in (None, 2**64 - 1):
            break
        ctypes.memset(at, 1, 64 << 20)
        total += 64 << 20
    print(hex(flags), total >> 20)
    if total > 300 << 20:
        print("ESCAPED", hex(flags))
raise MemoryError
