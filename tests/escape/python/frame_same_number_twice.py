# ends: ok | killed | error
import json
import os

calls = [[7, "llm", {"prompt": "hang"}]] * 100 + [[7, "llm", {"prompt": "x"}]] * 100
body = json.dumps({"calls": calls}).encode()
os.write(3, len(body).to_bytes(4, "little") + body)
await llm("a")
