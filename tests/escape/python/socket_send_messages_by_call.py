# ends: ok
import platform
from sonde.interpreters.confined.child.confine import ctypes

libc = ctypes.CDLL(None)
sendmsg, sendmmsg = {"x86_64": (46, 307), "aarch64": (211, 269)}[platform.machine()]
empty = ctypes.create_string_buffer(64)
tried = [libc.syscall(sendmsg, 4, empty, 0), libc.syscall(sendmmsg, 4, empty, 1, 0)]
"ESCAPED" if any(got >= 0 for got in tried) else "held"
