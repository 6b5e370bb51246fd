# ends: error ValueError
FINAL("x" * 20_000_000)
