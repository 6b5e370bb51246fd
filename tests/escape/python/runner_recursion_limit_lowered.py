# ends: ok | error | killed
import sys

sys.setrecursionlimit(12)
