import socket

server = socket.create_server(("127.0.0.1", 0))
socket.create_connection(server.getsockname()).close()
"ESCAPED"
