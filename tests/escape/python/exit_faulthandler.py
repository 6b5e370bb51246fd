# ends: killed | error | ok
# The signal that it sends itself may be refused.
import faulthandler

faulthandler._sigsegv()
