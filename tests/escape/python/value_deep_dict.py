# ends: error ValueError | error RecursionError
deep = {}
for _ in range(900):
    deep = {"a": [deep]}
FINAL(deep)
