# ends: ok
print("\ud800" * 10_000_000)
"\udfff" * 10_000_000
