# ends: killed | error | ok | timeout
import os

os.write(3, b"\x00\x01\0\0{")
