# ends: error MemoryError | timeout | killed
grown = {}
while True:
    grown[len(grown)] = str(len(grown)) * 10
