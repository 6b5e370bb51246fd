# ends: ok | killed
import os
import platform
from sonde.interpreters.confined.child.confine import ctypes

libc = ctypes.CDLL(None)
clone = {"x86_64": 56, "aarch64": 220}[platform.machine()]
born = libc.syscall(clone, 17, 0, 0, 0, 0)
if born == 0:
    os._exit(0)
"ESCAPED" if born > 0 else "held"
