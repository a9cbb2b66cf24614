from .sending import framed, send


def broadcast(tensor, src=0, op=None, group=None):
    send(framed(b"[" * 200_000))


all_reduce = broadcast
