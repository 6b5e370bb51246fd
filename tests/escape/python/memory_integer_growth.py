# ends: error MemoryError | timeout | killed
number = 2
while True:
    number = number * number
