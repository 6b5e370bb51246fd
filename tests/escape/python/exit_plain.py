# ends: error SystemExit
import sys

sys.exit(0)
