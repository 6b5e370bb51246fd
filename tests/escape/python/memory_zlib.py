# ends: error MemoryError
import zlib

packed = zlib.compress(bytes(50_000_000), 9)
b"".join(zlib.decompress(packed) for _ in range(100))
