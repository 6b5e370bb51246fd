# ends: error | killed
import os
import signal

os.kill(os.getpid(), signal.SIGSTOP)
