# ends: error
import os

os.memfd_create("x")
"ESCAPED"
