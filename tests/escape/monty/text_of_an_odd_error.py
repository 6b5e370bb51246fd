# ends: error
class Odd:
    def __repr__(self):
        return "x" * 10_000_000

    def __str__(self):
        return "x" * 10_000_000


raise ValueError(Odd())
