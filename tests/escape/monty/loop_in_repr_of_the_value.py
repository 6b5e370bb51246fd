# ends: timeout | killed
class Odd:
    def __repr__(self):
        while True:
            pass


Odd()
