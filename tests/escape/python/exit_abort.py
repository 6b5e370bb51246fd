# ends: killed
import os

os.abort()
