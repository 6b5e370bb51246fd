# ends: error | ok
class Odd(Exception):
    pass


first, second = Odd("first"), Odd("second")
first.__context__, second.__context__ = second, first
raise first
