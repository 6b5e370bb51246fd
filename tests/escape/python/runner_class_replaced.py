# ends: ok | error | killed
# breaks itself
import sys

frame = sys._getframe()
while "self" not in frame.f_locals:
    frame = frame.f_back
type(frame.f_locals["self"]).run = lambda *given: {"status": "ok", "value": "forged"}
1
