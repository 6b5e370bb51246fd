# ends: error TypeError
FINAL(b"x")
