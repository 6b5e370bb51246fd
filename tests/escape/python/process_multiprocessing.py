# ends: error
import multiprocessing

multiprocessing.Process(target=print).start()
"ESCAPED"
