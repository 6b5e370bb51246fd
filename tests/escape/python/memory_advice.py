# ends: ok
# Advice about memory: to fill it at once, to merge it with that of others, to gather it, which takes long.
from sonde.interpreters.confined.child.confine import ctypes

libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
at = libc.mmap(None, 1 << 20, 3, 0x22, -1, 0)
taken = [advice for advice in (*range(26), *range(100, 104)) if libc.madvise(at, 1 << 20, advice) == 0]
"held" if set(taken) <= {4, 8} else f"ESCAPED {taken}"
