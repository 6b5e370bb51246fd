# ends: killed | error
import threading

lock = threading.Lock()
lock.acquire()
lock.acquire()
