# ends: ok | error | killed
import gc

from sonde.interpreters.confined.child.wire import Wire

for each in gc.get_objects():
    if isinstance(each, Wire):
        each.now = float("nan")
import time

time.sleep(1)
