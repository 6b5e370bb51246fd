class Odd:
    def __init__(self):
        self.inner = Odd()


Odd()
