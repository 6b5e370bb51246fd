# ends: error
import os

open(f"/proc/{os.getppid()}/environ", "rb").read()
"ESCAPED"
