# ends: error MemoryError
grown = bytearray(1)
while True:
    grown.extend(bytes(len(grown)))
