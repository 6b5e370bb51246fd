# ends: ok
import os

tried = []
for attempt in (os.setsid, lambda: os.setpgid(0, 0), lambda: os.setpriority(0, 0, -5), lambda: os.nice(1)):
    try:
        attempt()
        tried.append("ESCAPED")
    except (OSError, AttributeError):
        pass
tried
