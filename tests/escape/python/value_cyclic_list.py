# ends: error
cyclic = []
cyclic.append(cyclic)
FINAL(cyclic)
