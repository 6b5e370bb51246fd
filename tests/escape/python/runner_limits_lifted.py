# ends: ok | error
import sys

sys.setrecursionlimit(10**9)
sys.set_int_max_str_digits(0)
sys.setswitchinterval(1e6)
1
