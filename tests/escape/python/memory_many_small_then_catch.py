# ends: killed | timeout | error MemoryError
kept = []
while True:
    try:
        kept.append(object())
    except BaseException:
        pass
