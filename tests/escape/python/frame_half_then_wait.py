# ends: killed | error
import os
import signal

os.write(3, b"\x00\x01\0\0{")
signal.sigwait([signal.SIGUSR1])
