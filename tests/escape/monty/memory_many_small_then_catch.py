kept = []
while True:
    try:
        kept.append(object())
    except BaseException:
        pass
