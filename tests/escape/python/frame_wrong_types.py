# ends: killed
import os

for body in (b"[]", b"null", b'{"calls":5}', b'{"calls":[["1","llm",{}]]}', b'{"x":1}'):
    os.write(3, len(body).to_bytes(4, "little") + body)
