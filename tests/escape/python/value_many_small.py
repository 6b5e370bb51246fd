# ends: ok | error | timeout
FINAL([[]] * 4_000_000)
