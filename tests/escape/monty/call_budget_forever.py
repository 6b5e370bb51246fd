while True:
    budget.remaining()
