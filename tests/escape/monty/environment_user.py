import getpass

"ESCAPED" if getpass.getuser() else "held"
