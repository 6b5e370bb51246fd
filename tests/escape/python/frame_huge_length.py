# ends: killed
import os

os.write(3, b"\xff\xff\xff\xff")
