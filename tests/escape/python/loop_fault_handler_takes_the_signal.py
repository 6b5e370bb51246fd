# ends: timeout | killed
import faulthandler
import signal

faulthandler.register(signal.SIGPROF, file=2, all_threads=False, chain=False)
while True:
    pass
