# ends: killed | timeout | error
import sys

sys.set_int_max_str_digits(0)
len(str(1 << 80_000_000))
