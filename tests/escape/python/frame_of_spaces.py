# ends: killed | error | timeout | ok
import os

body = b" " * 60_000_000
view = memoryview(len(body).to_bytes(4, "little") + body)
while view:
    try:
        view = view[os.write(3, view) :]
    except BlockingIOError:
        pass
