# ends: killed | error
import faulthandler

faulthandler._sigsegv()
