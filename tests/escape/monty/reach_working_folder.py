import os

"ESCAPED" if os.getcwd() != "/" else "a folder that says nothing"
