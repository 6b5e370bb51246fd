# ends: error
import itertools

FINAL(itertools.count())
