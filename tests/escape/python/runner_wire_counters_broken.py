# ends: ok | error | killed | timeout
import gc

from sonde.interpreters.confined.child.wire import Wire

for each in gc.get_objects():
    if isinstance(each, Wire):
        each._last_call = -(10**30)
        each._open = {1, 2, 3}
        each._received += b"\xff\xff\xff\x7f"
await llm("a")
