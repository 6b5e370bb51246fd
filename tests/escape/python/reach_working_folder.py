# ends: error
import os

os.getcwd()
"ESCAPED"
