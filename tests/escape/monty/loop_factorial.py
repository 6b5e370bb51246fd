import math

math.factorial(10**8)
