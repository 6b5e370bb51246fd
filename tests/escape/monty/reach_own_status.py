open("/proc/self/status").read()
"ESCAPED"
