# ends: ok
# What a replay draws must be what was drawn before, whichever way code asks for it.
import hashlib
import os
import random
import secrets

chance = random.Random(hashlib.sha256(b"urandom" + b"seed").digest())
found = [os.urandom(4) == chance.randbytes(4), os.getrandom(4) == chance.randbytes(4)]
found.append(secrets.token_bytes(4) == chance.randbytes(4))
random.seed()
found.append(random.random() == random.Random(chance.getrandbits(256)).random())
found.append(random.Random().random() == random.Random(chance.getrandbits(256)).random())
"held" if all(found) else f"ESCAPED {found}"
