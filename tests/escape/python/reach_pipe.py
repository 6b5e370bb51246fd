# ends: error
import os

os.pipe()
"ESCAPED"
