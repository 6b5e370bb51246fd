# ends: ok
import os
import platform
from sonde.interpreters.confined.child.confine import ctypes

libc = ctypes.CDLL(None)
number = {"x86_64": 101, "aarch64": 117}[platform.machine()]
"ESCAPED" if libc.syscall(number, 16, os.getppid(), 0, 0) == 0 else "held"
