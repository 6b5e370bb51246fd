import sys

sys.set_int_max_str_digits(0)
int("9" * 30_000_000)
