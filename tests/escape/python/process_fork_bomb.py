# ends: error | timeout
import os

while True:
    try:
        os.fork()
        print("ESCAPED")
    except OSError:
        pass
