# ends: error MemoryError | timeout | killed
import lzma

lzma.decompress(lzma.compress(bytes(20_000_000), preset=0) * 50)
