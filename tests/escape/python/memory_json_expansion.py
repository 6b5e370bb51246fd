# ends: error MemoryError | timeout | killed
import json

json.loads("[" + "[]," * 10_000_000 + "0]")
