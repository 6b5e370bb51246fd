# ends: killed | error | ok
from sonde.interpreters.confined.child.confine import ctypes

ctypes.memset(id(None), 0xFF, 64)
None
