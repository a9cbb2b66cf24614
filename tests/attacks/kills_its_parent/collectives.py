import os
import signal
import time


def broadcast(tensor, src, group=None):
    os.kill(os.getppid(), signal.SIGKILL)
    time.sleep(60)


all_reduce = broadcast
