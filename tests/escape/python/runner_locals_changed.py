# ends: ok | error | killed
import sys

frame = sys._getframe()
while frame:
    for each in list(frame.f_locals.values()):
        if isinstance(each, dict) and frame.f_code.co_name != "<module>":
            each.clear()
    frame = frame.f_back
