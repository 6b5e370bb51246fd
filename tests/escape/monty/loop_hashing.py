import hashlib

while True:
    hashlib.sha256(b'x' * 10_000_000).hexdigest()
