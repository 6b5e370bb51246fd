# ends: killed | timeout
import collections
import itertools

collections.deque(itertools.count(), maxlen=0)
