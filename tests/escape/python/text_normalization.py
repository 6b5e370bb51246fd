# ends: ok | error | timeout | killed
import unicodedata

unicodedata.normalize("NFKD", "ﷺ" * 10_000_000)
