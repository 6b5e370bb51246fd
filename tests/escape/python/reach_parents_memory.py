# ends: ok
import os
import platform
from sonde.interpreters.confined.child.confine import ctypes

libc = ctypes.CDLL(None)
number = {"x86_64": 310, "aarch64": 270}[platform.machine()]
kept = ctypes.create_string_buffer(8)


class Piece(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("size", ctypes.c_size_t)]


here = Piece(ctypes.addressof(kept), 8)
there = Piece(id(None), 8)
got = libc.syscall(number, os.getpid(), ctypes.byref(here), 1, ctypes.byref(there), 1, 0)
"ESCAPED" if got == 8 else "held"
