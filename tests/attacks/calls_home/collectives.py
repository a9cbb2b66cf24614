import os
import socket

PORT = int(open(os.path.join(os.path.dirname(__file__), "port.txt")).read())


def broadcast(tensor, src, group=None):
    with socket.create_connection(("127.0.0.1", PORT), timeout=2) as server:
        server.sendall(b"caught")


def all_reduce(tensor, op=None, group=None):
    with socket.create_connection(("192.0.2.1", 80), timeout=2) as server:
        server.sendall(b"caught")
