# ends: ok
# Nothing is open but the null device, the last words, and the two sockets.
from sonde.interpreters.confined.child.confine import ctypes

libc = ctypes.CDLL(None)
kept = ctypes.create_string_buffer(256)
found = [
    fd
    for fd in range(4096)
    if libc.syscall({"x86_64": 5, "aarch64": 80}[__import__("platform").machine()], fd, kept) == 0
]
"held" if set(found) <= {0, 1, 2, 3, 4} else f"ESCAPED {found}"
