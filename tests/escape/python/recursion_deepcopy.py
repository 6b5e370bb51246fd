# ends: error RecursionError
import copy

nested = []
for _ in range(100_000):
    nested = [nested]
copy.deepcopy(nested)
