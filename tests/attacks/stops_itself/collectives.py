import os
import signal


def broadcast(tensor, src, group=None):
    os.kill(os.getpid(), signal.SIGSTOP)


def all_reduce(tensor, op=None, group=None):
    broadcast(tensor, 0, group)
