def again():
    try:
        again()
    except RecursionError:
        again()


again()
