from collections import Counter

Counter(str(n) for n in range(10**9))
