# ends: killed | timeout | waits
# Many frames, each of them modest, whose calls stay open.
import os

sent = 0
while True:
    body = b'{"calls":[' + b",".join(b'[%d,"llm",{"prompt":"hang"}]' % (n + 1) for n in range(sent, sent + 1000)) + b"]}"
    sent += 1000
    view = memoryview(len(body).to_bytes(4, "little") + body)
    while view:
        try:
            view = view[os.write(3, view) :]
        except BlockingIOError:
            pass
