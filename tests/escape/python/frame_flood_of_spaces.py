# ends: killed
import os

body = b"{" + b" " * 30_000_000 + b"}"
frame = len(body).to_bytes(4, "little") + body
while True:
    view = memoryview(frame)
    while view:
        try:
            view = view[os.write(3, view) :]
        except BlockingIOError:
            pass
