# ends: ok | timeout | killed
import os

body = b'{"waiting":0}'
frame = len(body).to_bytes(4, "little") + body
while True:
    for n in range(len(frame)):
        os.write(3, frame[n : n + 1])
