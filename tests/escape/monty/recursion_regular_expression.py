import re

re.compile("(" * 100_000 + ")" * 100_000)
