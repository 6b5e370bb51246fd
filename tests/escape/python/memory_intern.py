# ends: error MemoryError | timeout | killed
import sys

n = 0
while True:
    n += 1
    sys.intern(f"{n}" * 1000)
