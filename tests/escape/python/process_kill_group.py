# ends: error
import os
import signal

os.killpg(0, signal.SIGKILL)
"ESCAPED"
