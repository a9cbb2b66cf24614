"""The send is started with isend, and waited for before the recv is posted: no better than a blocking send.

mistake = 42
loses = ["pipeline_parallel.Pipeline.one_f_one_b"]
says = ["(?i)deadlock|wait"]
"""


def _exchange(sends, receives, group):
    for tensor, peer in sends:
        dist.isend(tensor, peer, group=group).wait()
    for tensor, peer in receives:
        dist.irecv(tensor, peer, group=group).wait()
