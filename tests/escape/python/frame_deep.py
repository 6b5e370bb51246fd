# ends: killed
import os

body = b'{"calls":[[1,"final",{"value":' + b"[" * 100_000 + b"]" * 100_000 + b"}]]}"
view = memoryview(len(body).to_bytes(4, "little") + body)
while view:
    try:
        view = view[os.write(3, view) :]
    except BlockingIOError:
        pass
await llm("a")
