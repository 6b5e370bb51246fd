grown = {}
while True:
    grown[len(grown)] = str(len(grown)) * 10
