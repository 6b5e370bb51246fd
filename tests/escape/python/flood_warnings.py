# ends: timeout | ok | error
import warnings

warnings.simplefilter("always")
while True:
    warnings.warn("x" * 10_000)
