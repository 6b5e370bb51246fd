# ends: error | ok | timeout | killed
deep = 1
for _ in range(5_000):
    deep = [deep]
deep
