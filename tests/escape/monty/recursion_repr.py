class Odd:
    def __repr__(self):
        return repr(self)


Odd()
