# ends: timeout | killed
import os

frames = b'\x0d\0\0\0{"waiting":0}' * 5000
while True:
    view = memoryview(frames)
    while view:
        try:
            view = view[os.write(3, view) :]
        except BlockingIOError:
            pass
