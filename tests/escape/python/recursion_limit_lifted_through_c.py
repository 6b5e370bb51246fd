# ends: killed | error
import sys

sys.setrecursionlimit(2**31 - 1)


class Odd:
    def __repr__(self):
        return repr(self)


repr(Odd())
