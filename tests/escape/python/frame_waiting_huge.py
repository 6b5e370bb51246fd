# ends: killed
import os

body = b'{"waiting":' + b"9" * 100_000 + b"}"
os.write(3, len(body).to_bytes(4, "little") + body)
