# ends: killed | error
import os

os.read(4, 1)
