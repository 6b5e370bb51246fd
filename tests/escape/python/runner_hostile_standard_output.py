# ends: ok | error
import sys


class Odd:
    def write(self, text):
        raise SystemExit


sys.stdout = Odd()
print("x")
