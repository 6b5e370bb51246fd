# ends: killed | error
import os

os.close(3)
