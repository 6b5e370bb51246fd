# ends: error
cyclic = {}
cyclic["me"] = cyclic
FINAL(cyclic)
