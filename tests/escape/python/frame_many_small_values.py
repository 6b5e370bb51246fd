# ends: killed | error | timeout | ok
# A few bytes of text become many of memory where they are read.
import os

body = b'{"calls":[[1,"final",{"value":[' + b"[]," * 15_000_000 + b"0]}]]}"
view = memoryview(len(body).to_bytes(4, "little") + body)
while view:
    try:
        view = view[os.write(3, view) :]
    except BlockingIOError:
        pass
await llm("a")
