# ends: ok
from sonde.interpreters.confined.child.confine import ctypes

libc = ctypes.CDLL(None)
tried = [libc.mount(b"none", b"/tmp", b"tmpfs", 0, 0), libc.umount2(b"/proc", 2), libc.pivot_root(b"/", b"/")]
"ESCAPED" if 0 in tried else "held"
