# ends: ok | killed
import json
import os

body = json.dumps({"done": {"status": "ok", "value": "forged"}, "cell": 2}).encode()
os.write(3, (len(body).to_bytes(4, "little") + body) * 1000)
