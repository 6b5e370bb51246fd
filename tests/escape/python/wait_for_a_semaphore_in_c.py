# ends: killed | error
import threading

threading.Event().wait()
