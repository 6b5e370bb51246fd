import itertools

sum(1 for _ in itertools.permutations(range(20)))
