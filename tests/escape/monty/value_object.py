FINAL(object())
