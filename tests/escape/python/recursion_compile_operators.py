# ends: error | killed
eval("-" * 1_000_000 + "1")
