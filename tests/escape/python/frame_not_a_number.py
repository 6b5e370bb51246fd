# ends: ok
import os

body = b'{"calls":[[1000,"sleep",{"until":NaN}],[1001,"sleep",{"until":Infinity}]]}'
os.write(3, len(body).to_bytes(4, "little") + body)
import gc

from sonde.interpreters.confined.child.wire import Wire

for each in gc.get_objects():
    if isinstance(each, Wire):
        each._last_call = 5000
await llm("a")
