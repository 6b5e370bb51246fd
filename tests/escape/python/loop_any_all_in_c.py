# ends: killed | timeout
import itertools

any(map(int, itertools.repeat("0")))
