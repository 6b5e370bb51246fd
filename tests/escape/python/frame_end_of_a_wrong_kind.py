# ends: killed
import json
import os

body = json.dumps({"done": {"status": "splendid", "value": 7}, "cell": 2}).encode()
os.write(3, len(body).to_bytes(4, "little") + body)
