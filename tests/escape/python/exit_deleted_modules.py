# ends: ok | error | killed
import sys

sys.modules.clear()
1 / 0
