class Odd:
    def __repr__(self):
        raise SystemExit


Odd()
