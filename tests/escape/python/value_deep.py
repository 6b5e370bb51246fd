# ends: error
deep = []
for _ in range(50_000):
    deep = [deep]
FINAL(deep)
