# ends: ok | error
class Odd:
    __class__ = str

    def __contains__(self, what):
        raise SystemExit


Odd()
