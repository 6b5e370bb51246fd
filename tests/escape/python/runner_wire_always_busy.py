# ends: killed
# The cell's end is put off while a frame is under way; code may say that one is.
import gc

from sonde.interpreters.confined.child.wire import Wire

for each in gc.get_objects():
    if isinstance(each, Wire):
        each._busy = True
while True:
    pass
