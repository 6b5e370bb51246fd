# ends: ok
deep = 1
for _ in range(199):
    deep = [deep]
FINAL(deep)
