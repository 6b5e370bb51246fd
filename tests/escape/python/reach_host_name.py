# ends: error
import socket

socket.gethostname()
"ESCAPED"
