# ends: ok
import platform
from sonde.interpreters.confined.child.confine import ctypes

libc = ctypes.CDLL(None)
numbers = {"x86_64": (170, 171, 175, 176, 246, 321, 298), "aarch64": (161, 162, 105, 106, 104, 280, 241)}
tried = [libc.syscall(number, 0, 0, 0, 0, 0) for number in numbers[platform.machine()]]
"ESCAPED" if any(got >= 0 for got in tried) else "held"
