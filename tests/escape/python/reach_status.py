# ends: error
import os

os.stat("/etc/passwd")
"ESCAPED"
