# ends: ok | timeout
list(range(3_000_000))
