grown = {}
while True:
    grown[len(grown)] = [0] * 1000
