import sys


class Bomb:
    def __del__(self):
        while True:
            try:
                while True:
                    pass
            except BaseException:
                pass


__value__ = Bomb()
