# ends: killed | error | timeout | waits
# It sleeps without asking anybody, and sends a byte of a frame now and then.
import os
import threading

lock = threading.Lock()
lock.acquire()
os.write(3, (1_000_000).to_bytes(4, "little"))
while True:
    lock.acquire(timeout=0.1)
    os.write(3, b" ")
