# ends: timeout | killed
import time

while True:
    time.time()
