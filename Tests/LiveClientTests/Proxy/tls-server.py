"""A TLS server: says back all that one client says, and "end" behind its end.

Usage: tls-server.py CERTIFICATE KEY; prints the port that it listens on.
"""
import socket
import ssl
import sys

context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(sys.argv[1], sys.argv[2])
listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
connection = context.wrap_socket(listener.accept()[0], server_side=True)
while data := connection.recv(1 << 16):
    connection.sendall(data)
connection.sendall(b"end")
connection.unwrap()
