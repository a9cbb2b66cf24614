import os
import signal


def broadcast(tensor, src, group=None):
    os.kill(os.getpid(), signal.SIGSTOP)
