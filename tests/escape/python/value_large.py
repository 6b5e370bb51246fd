# ends: ok | error
FINAL("x" * 15_000_000)
