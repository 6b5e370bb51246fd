# ends: ok
print("🙂" * 40_000_000)
