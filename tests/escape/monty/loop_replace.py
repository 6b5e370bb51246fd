text = 'ab' * 1_000_000
while True:
    text = text.replace('a', 'c').replace('c', 'a')
