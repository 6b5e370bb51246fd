# ends: error | timeout | killed
class Odd(dict):
    def items(self):
        while True:
            yield "x", "y" * 1000


FINAL(Odd({1: 1}))
