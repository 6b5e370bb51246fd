# ends: killed | error
import sys

sys.setrecursionlimit(2**31 - 1)


def again():
    return again()


again()
