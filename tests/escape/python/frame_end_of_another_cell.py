# ends: killed
import json
import os

for cell in (None, 1, 3, -1):
    body = json.dumps({"done": {"status": "ok", "value": "forged"}, "cell": cell}).encode()
    os.write(3, len(body).to_bytes(4, "little") + body)
