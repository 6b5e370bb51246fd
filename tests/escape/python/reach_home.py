# ends: ok | error
import os

found = os.path.expanduser("~")
"ESCAPED" if os.path.isdir(found) else "held"
