# ends: error
open("/proc/self/status").read()
"ESCAPED"
