# ends: ok
from sonde.interpreters.confined.child.confine import resource

for limit in (resource.RLIMIT_DATA, resource.RLIMIT_NOFILE, resource.RLIMIT_NPROC, resource.RLIMIT_FSIZE):
    try:
        resource.setrlimit(limit, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    except (OSError, ValueError):
        pass
try:
    kept = bytearray(400 << 20)
except MemoryError:
    kept = None
"ESCAPED" if kept else "held"
