# ends: killed | timeout
from fractions import Fraction

total = Fraction(0)
for n in range(1, 10**9):
    total += Fraction(1, n)
