# ends: error TypeError
FINAL(object())
