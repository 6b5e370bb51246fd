# ends: error
class Odd(Exception):
    def __str__(self):
        raise SystemExit(9)


raise Odd
