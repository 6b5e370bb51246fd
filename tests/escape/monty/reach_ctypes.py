import ctypes

ctypes.CDLL(None).getpid()
'ESCAPED'
