open("/etc/passwd").read()
"ESCAPED"
