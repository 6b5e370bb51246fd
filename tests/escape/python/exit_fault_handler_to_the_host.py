# ends: killed
# What tells of crashes writes to whatever descriptor it is given.
import faulthandler

faulthandler.dump_traceback(3, all_threads=False)
1
