# ends: error
class Odd(str):
    def __hash__(self):
        return 1

    def __eq__(self, other):
        raise SystemExit


FINAL_VAR(Odd("x"))
