def again():
    try:
        return again()
    finally:
        while True:
            pass


again()
