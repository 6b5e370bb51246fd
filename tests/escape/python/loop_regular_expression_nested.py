# ends: killed | timeout
import re

re.search(r"^(([a-z])+.)+[A-Z]([a-z])+$", "a" * 200)
