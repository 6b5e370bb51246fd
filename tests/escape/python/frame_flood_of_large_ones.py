# ends: killed
import os

body = b'{"cancelled":[' + b"1," * 900_000 + b"1]}"
frame = len(body).to_bytes(4, "little") + body
while True:
    view = memoryview(frame)
    while view:
        try:
            view = view[os.write(3, view) :]
        except BlockingIOError:
            pass
