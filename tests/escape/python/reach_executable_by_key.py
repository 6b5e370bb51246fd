# ends: ok
import platform
from sonde.interpreters.confined.child.confine import ctypes

libc = ctypes.CDLL(None)
libc.syscall.restype = ctypes.c_long
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
at = libc.mmap(None, 4096, 3, 0x22, -1, 0)
number = {"x86_64": 329, "aarch64": 288}[platform.machine()]  # mprotect with a protection key
got = libc.syscall(number, ctypes.c_void_p(at), ctypes.c_size_t(4096), ctypes.c_long(7), ctypes.c_long(-1))
"ESCAPED" if got == 0 else "held"
