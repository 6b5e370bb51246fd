# ends: ok | error | killed
import sys

sys.stdout.take = lambda: {"not": "text"}
1
