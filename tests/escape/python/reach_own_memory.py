# ends: error
open("/proc/self/mem", "r+b").read(0)
"ESCAPED"
