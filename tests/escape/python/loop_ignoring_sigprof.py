# ends: killed
import signal

signal.signal(signal.SIGPROF, signal.SIG_IGN)
while True:
    pass
