# ends: error
import lzma

lzma.compress(b"x", filters=[{"id": lzma.FILTER_LZMA2, "dict_size": 1_500_000_000}], format=lzma.FORMAT_RAW)
