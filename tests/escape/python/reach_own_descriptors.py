# ends: error
import os

os.listdir("/proc/self/fd")
"ESCAPED"
