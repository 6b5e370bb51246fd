# ends: killed | ok
import os

body = b'{"calls":[[%d,"llm",{"prompt":"x"}],[-1,"llm",{"prompt":"x"}]]}' % 10**40
os.write(3, len(body).to_bytes(4, "little") + body)
await llm("a")
