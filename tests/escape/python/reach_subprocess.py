# ends: error
import subprocess

subprocess.run(["/bin/echo", "hi"], check=True)
"ESCAPED"
