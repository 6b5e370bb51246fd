# ends: error MemoryError
"{:>1000000000}".format(1)
