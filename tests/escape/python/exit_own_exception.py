# ends: error
class Odd(BaseException):
    def __init__(self, *given):
        raise MemoryError


raise Odd
