# ends: error | timeout | killed | ok
# Each level holds the one below it twice.
deep = ["x"]
for _ in range(30):
    deep = [deep, deep]
FINAL(deep)
