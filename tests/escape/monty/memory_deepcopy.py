import copy

kept = [[0] * 1000]
while True:
    kept = kept + copy.deepcopy(kept)
