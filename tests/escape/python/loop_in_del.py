# ends: ok | error | timeout | killed
class Sticky:
    def __del__(self):
        while True:
            pass


Sticky()
while True:
    Sticky()
