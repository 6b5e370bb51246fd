# ends: ok
# The frames above a cell are the child's own: none of them is the host's.
import sys

frame, names = sys._getframe(), []
while frame:
    names.append(frame.f_code.co_filename)
    frame = frame.f_back
"ESCAPED" if any("bridge" in name or "engine" in name for name in names) else "held"
