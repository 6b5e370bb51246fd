# ends: killed | timeout | error MemoryError
import math

math.factorial(10**8)
