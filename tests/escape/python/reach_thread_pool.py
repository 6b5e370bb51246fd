# ends: ok | error
import threading
from concurrent.futures import ThreadPoolExecutor

with ThreadPoolExecutor(1) as pool:
    found = pool.submit(threading.get_ident).result(timeout=1)
"held" if found == threading.get_ident() else "ESCAPED"
