# ends: error
import os

os.listdir("/")
"ESCAPED"
