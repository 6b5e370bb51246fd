# ends: error MemoryError | timeout | killed
import io

written = io.StringIO()
while True:
    written.write("é" * 1_000_000)
