# ends: error
open("/proc/self/cmdline", "rb").read()
"ESCAPED"
