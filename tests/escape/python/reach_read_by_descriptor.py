# ends: error PermissionError
import os

os.read(os.open("/etc/passwd", os.O_RDONLY), 10)
"ESCAPED"
