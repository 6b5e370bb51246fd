# ends: error MemoryError | timeout | killed | ok
import pickle

pickle.loads(
    b"\x80\x04]" + b"".join(b"(" + b"h\x00" * 100 + b"e" for _ in range(1)) + b"."
    if False
    else b"\x80\x04" + b"](" * 3_000_000 + b"e" * 3_000_000 + b"."
)
