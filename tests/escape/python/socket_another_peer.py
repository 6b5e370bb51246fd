# ends: ok
# The sockets that are there are connected: they cannot be pointed elsewhere.
from sonde.interpreters.confined.child.confine import ctypes

libc = ctypes.CDLL(None)
libc.sendto.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_char_p, ctypes.c_int]
address = b"\x01\0" + b"\0escape-peer"
tried = [libc.connect(fd, address, len(address)) for fd in (3, 4)]
tried += [libc.bind(3, address, len(address)), libc.listen(3, 1), libc.shutdown(9, 2)]
"ESCAPED" if 0 in tried else "held"
