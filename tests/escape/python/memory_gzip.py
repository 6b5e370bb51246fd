# ends: error MemoryError
import gzip
import io

gzip.GzipFile(fileobj=io.BytesIO(gzip.compress(bytes(60_000_000)) * 20)).read()
