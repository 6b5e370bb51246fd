# ends: ok | error | killed
import sys

output = sys.stdout
output._parts = None
output._size = "many"
1
