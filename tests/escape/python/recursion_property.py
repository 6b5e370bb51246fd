# ends: error RecursionError
class Odd:
    @property
    def me(self):
        return self.me


Odd().me
