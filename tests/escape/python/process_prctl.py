# ends: ok
from sonde.interpreters.confined.child.confine import ctypes

libc = ctypes.CDLL(None, use_errno=True)
# to outlive the host, to be traced, to keep rights, to lift the filter, a name, speculation, timer slack
told = {each: libc.prctl(each[0], *each[1:]) for each in ((1, 0), (4, 1), (8, 1), (22, 0), (15, b"x"), (53, 0, 0), (29, 1), (47, 2, 0), (55, 0))}
"ESCAPED" if 0 in told.values() else "held"
