# ends: ok
# The cell claims to have ended, and goes on to fill its host with half a frame.
import json
import os

body = json.dumps({"done": {"status": "ok", "value": "forged"}, "cell": 2}).encode()
os.write(3, len(body).to_bytes(4, "little") + body + b"\0\0\0\2")
while True:
    try:
        os.write(3, b"x" * 1_000_000)
    except BaseException:
        pass
