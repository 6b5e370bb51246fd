number = 2
while True:
    number = number * number
