# ends: error | timeout | killed
# What interrupts may come while a callback of fork runs, which swallows it.
import os

while True:
    try:
        os.fork()
        print("ESCAPED")
    except OSError:
        pass
