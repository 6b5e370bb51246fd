# ends: ok | killed
import os
from sonde.interpreters.confined.child.confine import ctypes

libc = ctypes.CDLL(None)
given = ctypes.create_string_buffer(88)
born = libc.syscall(435, given, 88)
if born == 0:
    os._exit(0)
"ESCAPED" if born > 0 else "held"
