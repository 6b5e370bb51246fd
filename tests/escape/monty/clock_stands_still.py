# ends: ok
import datetime
import time


def told():
    return [time.time(), str(datetime.datetime.now()), str(datetime.date.today())]


before = told()
n = 0
while n < 300_000:
    n += 1
"held" if told() == before else "ESCAPED"
