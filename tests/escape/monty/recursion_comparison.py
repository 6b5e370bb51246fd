left, right = [], []
for _ in range(100_000):
    left, right = [left], [right]
left == right
