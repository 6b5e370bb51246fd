# ends: error | ok | timeout
import codecs

for name in ("idna", "punycode", "utf_7", "unicode_escape"):
    codecs.decode(codecs.encode("x" * 1_000_000, name), name)
