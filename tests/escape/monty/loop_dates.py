import datetime

while True:
    datetime.datetime(2020, 1, 1).isoformat()
