# ends: error
import os

path = f"/tmp/escape-{os.getpid()}"
with open(path, "w") as file:
    file.write("x")
os.unlink(path)
"ESCAPED"
