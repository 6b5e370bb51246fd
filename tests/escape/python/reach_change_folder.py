# ends: error
import os

os.chdir("/")
"ESCAPED"
