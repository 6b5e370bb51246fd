# ends: error MemoryError | timeout | killed
import bz2

bz2.decompress(bz2.compress(bytes(30_000_000)) * 50)
