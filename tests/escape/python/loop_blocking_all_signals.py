# ends: killed
import signal

signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
for number in range(1, 65):
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
while True:
    pass
