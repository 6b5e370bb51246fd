# ends: ok | killed
# What is sent when no cell runs belongs to none.
import atexit
import os
import json

body = json.dumps({"done": {"status": "ok", "value": "forged"}, "cell": 2}).encode()
forged = len(body).to_bytes(4, "little") + body
calls = b'{"calls":[[1,"llm",{"prompt":"x"}]]}'
os.write(3, forged + (len(calls).to_bytes(4, "little") + calls) * 1000)
