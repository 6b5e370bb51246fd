import sys

while True:
    sys.__stdout__.write("x" * 100_000)
    sys.__stdout__.flush()
