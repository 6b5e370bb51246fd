# ends: ok | killed | timeout
# One wide character makes a text four times as large where it is read.
import os

body = b'{"done":{"status":"ok","value":"\\ud83d\\ude00' + b"x" * 32_000_000 + b'"},"cell":2}'
view = memoryview(len(body).to_bytes(4, "little") + body)
while view:
    try:
        view = view[os.write(3, view) :]
    except BlockingIOError:
        pass
