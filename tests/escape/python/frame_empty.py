# ends: killed
import os

os.write(3, b"\0\0\0\0" * 1000)
