# ends: ok | error | killed | timeout
# A call in the middle of a call.
import signal

signal.signal(signal.SIGALRM, lambda number, frame: llm_query("again"))
signal.setitimer(signal.ITIMER_REAL, 1e-4, 1e-4)
for n in range(500):
    llm_query(str(n))
signal.setitimer(signal.ITIMER_REAL, 0)
