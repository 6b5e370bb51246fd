# ends: error | timeout | killed | ok
("ü" * 200_000).encode("punycode")
