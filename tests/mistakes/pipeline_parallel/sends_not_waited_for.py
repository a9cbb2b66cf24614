"""The receives are waited for, the sends are not.

loses = ["pipeline_parallel.Pipeline"]
says = ["(?i)wait"]
"""


def _exchange(sends, receives, group):
    for tensor, peer in sends:
        dist.isend(tensor, peer, group=group)
    for tensor, peer in receives:
        dist.recv(tensor, peer, group=group)
