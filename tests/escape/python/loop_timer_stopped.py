# ends: killed
import signal

signal.setitimer(signal.ITIMER_PROF, 0)
while True:
    pass
