# ends: error
import socket

socket.socketpair()
"ESCAPED"
