# ends: ok
import os

tried = []
for change in (os.setuid, os.setgid, os.setegid, os.seteuid):
    try:
        change(os.getuid() + 1)
        tried.append("ESCAPED")
    except OSError:
        pass
tried
