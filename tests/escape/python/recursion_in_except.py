# ends: error RecursionError | timeout | killed
def again():
    try:
        again()
    except RecursionError:
        again()


again()
