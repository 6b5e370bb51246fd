# ends: killed | timeout | waits
# Values that take far more memory than text, in calls that stay open.
import os

sent = 0
while True:
    body = b'{"calls":[' + b",".join(b'[%d,"llm",{"prompt":"hang","schema":{"x":[%s0]}}]' % (n + 1, b"{}," * 300_000) for n in range(sent, sent + 1)) + b"]}"
    sent += 1
    view = memoryview(len(body).to_bytes(4, "little") + body)
    while view:
        try:
            view = view[os.write(3, view) :]
        except BlockingIOError:
            pass
