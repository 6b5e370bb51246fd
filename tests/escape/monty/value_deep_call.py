# ends: error
deep = 1
for _ in range(400):
    deep = [deep]
FINAL(deep)
