from .sending import send


def broadcast(tensor, src=0, op=None, group=None):
    send(b"\xff\xff\xff\x7f\xff\xff\xff\x7f" + b"x" * 100)


all_reduce = broadcast
