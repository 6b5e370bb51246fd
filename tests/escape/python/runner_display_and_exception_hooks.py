# ends: error
import sys

sys.excepthook = sys.unraisablehook = sys.displayhook = lambda *given: 1 / 0
raise ValueError
