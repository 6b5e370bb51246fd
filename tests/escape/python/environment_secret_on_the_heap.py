# ends: ok
import gc

marker = "".join(reversed("TERCES_EPACSE"))
found = [each for each in gc.get_objects() if isinstance(each, dict) and marker in each]
"ESCAPED" if found else "held"
