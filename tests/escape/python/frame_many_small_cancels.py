# ends: killed | error | timeout | ok
import os

body = b'{"cancelled":[' + b"900719925474," * 4_000_000 + b"1]}"
view = memoryview(len(body).to_bytes(4, "little") + body)
while view:
    try:
        view = view[os.write(3, view) :]
    except BlockingIOError:
        pass
await llm("a")
