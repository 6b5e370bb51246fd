# ends: ok | error
# Deep, but not too deep for the one who writes it: the one who reads it must cope.
import sys

sys.setrecursionlimit(20_000)
deep = []
for _ in range(3_000):
    deep = [deep]
FINAL(deep)
