from collections import deque

grown = deque()
while True:
    grown.append('x' * 10_000 + str(len(grown)))
