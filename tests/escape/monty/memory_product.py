import itertools

list(itertools.product(range(1000), repeat=5))
