# ends: killed
# So deep that it can just be read, and nothing else be done with it.
import json
import os

for depth in (700, 600):
    body = b'{"calls":[[%d,"final",{"value":%s1%s}]]}' % (2000 - depth, b"[" * depth, b"]" * depth)
    os.write(3, len(body).to_bytes(4, "little") + body)
await llm("a")
