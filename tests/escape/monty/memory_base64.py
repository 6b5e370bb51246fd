import base64

kept = b'x'
while True:
    kept = base64.b64encode(kept * 3)
