import os

os.listdir("/")
"ESCAPED"
