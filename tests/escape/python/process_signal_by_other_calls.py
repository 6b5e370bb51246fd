# ends: ok
import os
import platform
from sonde.interpreters.confined.child.confine import ctypes

libc = ctypes.CDLL(None)
numbers = {"x86_64": (200, 234, 129, 297, 424), "aarch64": (130, 131, 138, 240, 424)}[platform.machine()]
parent = os.getppid()
tried = [
    libc.syscall(numbers[0], parent, 0),
    libc.syscall(numbers[1], parent, parent, 0),
    libc.syscall(numbers[2], parent, 0, 0),
    libc.syscall(numbers[3], parent, parent, 0, 0),
    libc.syscall(numbers[4], 3, 0, 0, 0),
]
"ESCAPED" if 0 in tried else "held"
