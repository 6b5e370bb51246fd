cyclic = {}
cyclic["me"] = cyclic
FINAL(cyclic)
