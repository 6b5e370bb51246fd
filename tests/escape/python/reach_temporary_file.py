# ends: error
import tempfile

with tempfile.TemporaryFile() as file:
    file.write(b"x")
"ESCAPED"
