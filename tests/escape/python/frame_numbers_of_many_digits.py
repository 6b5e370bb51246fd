# ends: killed | ok | error
import os

for digits in (30, 400, 4000, 5000, 1_000_000):
    body = b'{"calls":[[%d,"final",{"value":%s}]]}' % (1000 + digits, b"9" * digits)
    view = memoryview(len(body).to_bytes(4, "little") + body)
    while view:
        try:
            view = view[os.write(3, view) :]
        except BlockingIOError:
            pass
await llm("a")
