# ends: timeout | killed
import os
import signal

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
while True:
    try:
        os.write(2, b"x" * 100_000)
    except OSError:
        pass
