# ends: killed
import os

os.write(3, b"\x05\0\0\0hello")
