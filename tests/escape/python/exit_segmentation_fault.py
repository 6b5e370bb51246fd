# ends: killed
from sonde.interpreters.confined.child.confine import ctypes

ctypes.string_at(8)
