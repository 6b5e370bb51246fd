# ends: ok | error | killed
FINAL(10**3000)
