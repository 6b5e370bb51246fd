# ends: error MemoryError
import array

array.array("d", bytes(8)) * 10**9
