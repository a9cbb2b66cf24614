"""Neighbours receive first and send then, so that everybody waits for somebody.

mistake = 42
loses = ["pipeline_parallel.Pipeline"]
says = ["(?i)deadlock|wait"]
"""


def _exchange(sends, receives, group):
    for tensor, peer in receives:
        dist.recv(tensor, peer, group=group)
    for tensor, peer in sends:
        dist.send(tensor, peer, group=group)
