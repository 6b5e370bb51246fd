# ends: ok
import json
import os

body = json.dumps({"ready": ["limits", "seccomp", "landlock", "a lie"]}).encode()
os.write(3, (len(body).to_bytes(4, "little") + body) * 100)
"held"
