# ends: ok | error
import os
import struct

for number in (-1, 0, 1, 2**31, 2**32 - 1):
    os.write(4, struct.pack("<q", number)[:4])
"held"
