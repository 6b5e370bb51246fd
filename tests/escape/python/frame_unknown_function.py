# ends: ok
import json
import os

calls = [[n, name, {}] for n, name in enumerate(["rm", "", "\0", "__class__", "final ", "llm;drop"], 1000)]
body = json.dumps({"calls": calls}).encode()
os.write(3, len(body).to_bytes(4, "little") + body)
import gc

from sonde.interpreters.confined.child.wire import Wire

for each in gc.get_objects():
    if isinstance(each, Wire):
        each._last_call = 5000
await llm("a")
