# ends: ok
# The stack counts as stack, not as data; moved elsewhere it could grow without end.
from sonde.interpreters.confined.child.confine import ctypes

libc = ctypes.CDLL(None, use_errno=True)
libc.mremap.restype = ctypes.c_void_p
libc.mremap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_int]
end = ctypes.c_void_p.in_dll(libc, "__libc_stack_end").value & ~4095
moved = [libc.mremap(start, 4096, 1 << 30, 1) for start in (end, end - 8192)]
for at in moved:
    if at not in (None, 2**64 - 1):
        ctypes.memset(at, 1, 400 << 20)
"held" if set(moved) == {2**64 - 1} else "ESCAPED"
