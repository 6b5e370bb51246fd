# ends: error | timeout | killed | ok
class Odd(list):
    def __iter__(self):
        while True:
            yield self

    def __len__(self):
        return 10**9


FINAL(Odd([1]))
