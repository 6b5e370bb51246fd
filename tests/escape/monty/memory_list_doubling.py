kept = [0]
while True:
    kept = kept * 2
