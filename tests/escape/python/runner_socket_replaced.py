# ends: ok | error | killed
import socket

for name in ("send", "sendall", "recv"):
    setattr(socket.socket, name, lambda *given: b"")
1
