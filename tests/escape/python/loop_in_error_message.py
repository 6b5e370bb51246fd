class Odd(Exception):
    def __str__(self):
        while True:
            pass


raise Odd
