# ends: ok | error | timeout | killed
import os

for _ in range(100_000):
    os.write(4, b"\xff\xff\xff\xff")
