# ends: ok | error | timeout | killed
import time

time.strftime("%Y" * 10_000_000)
