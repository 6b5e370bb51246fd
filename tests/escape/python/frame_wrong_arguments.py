# ends: ok
import json
import os

given = [
    ["llm", {"prompt": 5}],
    ["llm", {}],
    ["llm", {"prompt": "x", "schema": "x"}],
    ["llm", {"prompt": "x", "schema": {"type": 5}}],
    ["llm", {"prompt": "x", "other": 1}],
    ["sleep", {"until": "never"}],
    ["sleep", {"until": 1e308}],
    ["sleep", {"until": -1e308}],
    ["budget", {"x": 1}],
    ["final", {}],
]
body = json.dumps({"calls": [[n, *each] for n, each in enumerate(given, 1000)]}).encode()
os.write(3, len(body).to_bytes(4, "little") + body)
import gc

from sonde.interpreters.confined.child.wire import Wire

for each in gc.get_objects():
    if isinstance(each, Wire):
        each._last_call = 5000
await llm("a")
