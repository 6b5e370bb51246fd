# ends: timeout | killed
while True:
    budget.remaining()
