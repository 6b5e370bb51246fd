class Odd:
    def __init__(self):
        self.x = [0] * 100


kept = []
while True:
    kept.append(Odd())
