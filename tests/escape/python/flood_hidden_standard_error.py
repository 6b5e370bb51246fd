# ends: error | timeout | killed
import sys

while True:
    sys.__stderr__.write("x" * 100_000)
    sys.__stderr__.flush()
