# ends: ok
# A call and its end travel together: neither is to stay on the host's books.
import json
import os

for n in range(1000, 31_000, 1000):
    calls = [[number, "llm", {"prompt": "hang"}] for number in range(n, n + 1000)]
    body = json.dumps({"calls": calls, "cancelled": [*range(n, n + 1000)]}).encode()
    view = memoryview(len(body).to_bytes(4, "little") + body)
    while view:
        try:
            view = view[os.write(3, view) :]
        except BlockingIOError:
            pass
"held"
