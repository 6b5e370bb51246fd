# ends: killed | error
import os

while True:
    os.read(3, 1)
