# ends: ok
import platform
from sonde.interpreters.confined.child.confine import ctypes

libc = ctypes.CDLL(None)
newfstatat, statx = {"x86_64": (262, 332), "aarch64": (79, 291)}[platform.machine()]
kept = ctypes.create_string_buffer(512)
tried = [
    libc.syscall(newfstatat, -100, b"/etc/passwd", kept, 0),
    libc.syscall(statx, -100, b"/etc/passwd", 0, 0xFFF, kept),
]
"ESCAPED" if 0 in tried else "held"
