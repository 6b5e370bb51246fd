# ends: error TypeError
FINAL({(1, 2): 3})
