# ends: killed | timeout
kept = []
while True:
    try:
        kept.append(bytearray(100_000))
    except BaseException:
        pass
