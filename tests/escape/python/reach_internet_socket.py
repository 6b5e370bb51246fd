# ends: error
import socket

socket.socket(socket.AF_INET, socket.SOCK_STREAM)
"ESCAPED"
