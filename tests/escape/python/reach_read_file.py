# ends: error PermissionError
open("/etc/passwd").read()
"ESCAPED"
