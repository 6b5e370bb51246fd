# ends: ok | error
import pwd

"ESCAPED" if pwd.getpwuid(0) else "held"
