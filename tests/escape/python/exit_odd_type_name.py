# ends: error xxx
class Odd(Exception):
    pass


Odd.__name__ = "x" * 10_000_000
raise Odd
