# ends: ok
import platform
from sonde.interpreters.confined.child.confine import ctypes

libc = ctypes.CDLL(None)
openat, openat2 = {"x86_64": (257, 437), "aarch64": (56, 437)}[platform.machine()]
how = ctypes.create_string_buffer(24)
tried = [
    libc.syscall(openat, -100, b"/etc/passwd", 0),
    libc.syscall(openat2, -100, b"/etc/passwd", how, 24),
    libc.open(b"/etc/passwd", 0),
]
"ESCAPED" if any(got >= 0 for got in tried) else "held"
