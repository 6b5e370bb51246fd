import socket

socket.socket(socket.AF_UNIX).bind("\0escape")
"ESCAPED"
