# ends: killed | error | timeout
# It sleeps without asking anybody, and computes a little in between.
import threading

lock = threading.Lock()
lock.acquire()
while True:
    lock.acquire(timeout=0.4)
