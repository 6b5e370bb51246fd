# ends: error | ok
import socket

"ESCAPED" if socket.gethostbyname("localhost") else "held"
