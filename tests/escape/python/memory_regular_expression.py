# ends: error | ok | timeout | killed
import re

re.compile("(?:" * 50 + "a{1,9999}" + "){1,9999}" * 50).match("a" * 10_000)
