# ends: error MemoryError | timeout | killed
import itertools

list(itertools.product(range(1000), repeat=5))
