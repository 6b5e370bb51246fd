# ends: ok | error
import os

"ESCAPED" if list(os.walk("/etc")) else "held"
