from .sending import framed, send


def broadcast(tensor, src=0, op=None, group=None):
    send(framed(b'{"status": "returned", "value": 1e999, "tensors": NaN}'))


all_reduce = broadcast
