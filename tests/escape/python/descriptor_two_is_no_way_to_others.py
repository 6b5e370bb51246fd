# ends: ok | error
# What others said last is not to be read here.
import os

os.lseek(2, 0, 0)
found = os.read(2, 1000)
"ESCAPED" if found else "held"
