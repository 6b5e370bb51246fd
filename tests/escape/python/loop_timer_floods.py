import signal

signal.signal(signal.SIGALRM, lambda number, frame: None)
signal.setitimer(signal.ITIMER_REAL, 1e-6, 1e-6)
while True:
    pass
