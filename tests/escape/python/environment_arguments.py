# ends: ok
import sys

found = " ".join([*sys.argv, *sys.orig_argv, *sys.path])
"ESCAPED" if "ESCAPE_SECRET" in found or "pytest" in found else "held"
