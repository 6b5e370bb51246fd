# ends: ok | killed
import json
import os

for waiting in (0, 1, -1, 10**6):
    body = json.dumps({"waiting": waiting}).encode()
    os.write(3, (len(body).to_bytes(4, "little") + body) * 100)
"held"
