import itertools

for n in itertools.count():
    pass
