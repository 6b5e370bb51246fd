# ends: killed
import os

body = b'{"done":{"status":"ok","value":"\xff\xfe\xc0\x80"}}'
os.write(3, len(body).to_bytes(4, "little") + body)
