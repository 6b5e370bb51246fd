# ends: killed | timeout | waits
# Answers are asked for and never read: the host's memory must not fill with them.
import os

sent = 0
while True:
    body = b'{"calls":[' + b",".join(b'[%d,"llm",{"prompt":"%s"}]' % (n + 1, b"x" * 1000) for n in range(sent, sent + 500)) + b"]}"
    sent += 500
    view = memoryview(len(body).to_bytes(4, "little") + body)
    while view:
        try:
            view = view[os.write(3, view) :]
        except BlockingIOError:
            pass
