# ends: ok | error
import getpass

"ESCAPED" if getpass.getuser() else "held"
