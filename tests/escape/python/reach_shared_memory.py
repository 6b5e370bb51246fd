# ends: error
from multiprocessing import shared_memory

memory = shared_memory.SharedMemory(create=True, size=100)
memory.unlink()
"ESCAPED"
