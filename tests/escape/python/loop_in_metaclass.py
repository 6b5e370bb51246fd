# ends: error | ok
class Odd(type):
    def __instancecheck__(cls, other):
        while True:
            pass


class Error(Exception, metaclass=Odd):
    pass


raise Error
