# ends: killed
# Frames that say nothing cost the host more than the one who sends them.
import os

frames = b"\x02\0\0\0{}" * 10_000
while True:
    view = memoryview(frames)
    while view:
        try:
            view = view[os.write(3, view) :]
        except BlockingIOError:
            pass
