# ends: error MemoryError | timeout | killed
import gc

gc.disable()
while True:
    loop = [bytearray(10_000)]
    loop.append(loop)
