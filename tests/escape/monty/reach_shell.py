import os

"ESCAPED" if os.system("true") == 0 else "held"
