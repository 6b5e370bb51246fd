# ends: killed | error
import signal

signal.sigwait(range(1, 32))
