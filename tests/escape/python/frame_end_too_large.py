# ends: ok | killed | timeout
import os

body = b'{"done":{"status":"ok","value":"' + b"x" * 60_000_000 + b'"},"cell":2}'
view = memoryview(len(body).to_bytes(4, "little") + body)
while view:
    try:
        view = view[os.write(3, view) :]
    except BlockingIOError:
        pass
