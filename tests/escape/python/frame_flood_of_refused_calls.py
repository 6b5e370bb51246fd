# ends: killed | timeout
import json
import os

number = 1000
while True:
    calls = []
    for _ in range(1000):
        number += 1
        calls.append([number, "no", {}])
    body = json.dumps({"calls": calls}).encode()
    view = memoryview(len(body).to_bytes(4, "little") + body)
    while view:
        try:
            view = view[os.write(3, view) :]
        except BlockingIOError:
            pass
