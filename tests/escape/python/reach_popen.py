# ends: ok | error
import os

"ESCAPED" if "hi" in os.popen("echo hi").read() else "held"
