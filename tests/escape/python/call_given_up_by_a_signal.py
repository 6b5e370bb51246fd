# ends: ok
# A time-out as code sets one for itself: the call is given up, and the cell goes on.
import signal


def late(number, frame):
    raise TimeoutError("late")


signal.signal(signal.SIGALRM, late)
signal.setitimer(signal.ITIMER_REAL, 0.1)
try:
    llm_query("hang")
except TimeoutError:
    pass
await llm("a")
