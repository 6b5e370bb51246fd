# ends: ok
import struct
from sonde.interpreters.confined.child.confine import NUMBERS, ctypes

libc = ctypes.CDLL(None)
header = struct.pack("=Ii", 0x20080522, 0)
tried = libc.syscall(NUMBERS["capset"], header, struct.pack("=6I", 0xFFFFFFFF, 0xFFFFFFFF, 0, 0xFF, 0xFF, 0))
"ESCAPED" if tried == 0 else "held"
