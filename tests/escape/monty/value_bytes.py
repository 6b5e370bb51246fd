FINAL(b"x")
