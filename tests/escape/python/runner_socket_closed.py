# ends: killed | error | ok
import gc
import socket

for each in gc.get_objects():
    if isinstance(each, socket.socket):
        each.close()
1
