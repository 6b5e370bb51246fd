# ends: error
import os

os.chroot("/")
"ESCAPED"
