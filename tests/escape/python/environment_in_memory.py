# ends: ok
from sonde.interpreters.confined.child.confine import ctypes

libc = ctypes.CDLL(None)
libc.getenv.restype = ctypes.c_char_p
names = (b"PATH", b"HOME", b"USER", b"OPENAI_API_KEY", b"ESCAPE_SECRET", b"PYTHONPATH", b"VIRTUAL_ENV")
"ESCAPED" if any(libc.getenv(name) for name in names) else "held"
