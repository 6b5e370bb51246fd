# ends: ok | error
import os

for garbage in (b"", b"x", b"xxxxx", b"x" * 10_000):
    try:
        os.write(4, garbage)
    except OSError as error:
        print(error)
"held"
