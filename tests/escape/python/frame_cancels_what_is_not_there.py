# ends: ok
import json
import os

body = json.dumps({"cancelled": [*range(100_000), -1, 2**40]}).encode()
view = memoryview(len(body).to_bytes(4, "little") + body)
while view:
    try:
        view = view[os.write(3, view) :]
    except BlockingIOError:
        pass
await llm("a")
