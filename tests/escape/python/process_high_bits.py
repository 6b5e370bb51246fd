# ends: ok
# The kernel takes the low half of a number; the filter has to as well.
import platform
from sonde.interpreters.confined.child.confine import ctypes

libc = ctypes.CDLL(None)
libc.syscall.restype = ctypes.c_long
number = {"x86_64": 257, "aarch64": 56}[platform.machine()]
got = libc.syscall(ctypes.c_long((1 << 32) + number), -100, b"/etc/passwd", 0)
"ESCAPED" if got >= 0 else "held"
