number = 3**200_000
while True:
    number % (3**100_000 + 1)
