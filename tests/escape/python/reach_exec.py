# ends: error
import os

print("trying")
os.execv("/bin/sh", ["sh", "-c", "printf ESCAPED > /dev/null; exec sleep 0"])
