# ends: ok
# Handing our own descriptors to the host would cost it some of its own.
import array
import socket

connection = socket.socket.__new__(socket.socket)
try:
    socket.socket.__init__(connection, fileno=4)
    connection.sendmsg([b"\0\0\0\0"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [3, 4] * 50))])
    told = "ESCAPED"
except OSError:
    told = "held"
told
