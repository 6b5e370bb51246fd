# ends: error | killed
import signal

signal.raise_signal(signal.SIGKILL)
