# ends: killed | error
import os

os.closerange(0, 256)
