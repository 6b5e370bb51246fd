# ends: ok | error | timeout | killed
import os

while True:
    os.write(4, b"\0\0\0\0")
