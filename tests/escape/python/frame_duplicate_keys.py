# ends: ok | killed
import os

body = b'{"calls":[],"calls":[[1000,"final",{"value":1,"value":2}]],"done":null,"done":{"status":"ok"},"cell":1,"cell":2}'
os.write(3, len(body).to_bytes(4, "little") + body)
