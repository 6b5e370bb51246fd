# ends: ok | error
import os

os.lseek(2, 0, 0)
os.write(2, b"forged last words\n")
"held"
