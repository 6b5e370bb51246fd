cyclic = []
cyclic.append(cyclic)
FINAL(cyclic)
