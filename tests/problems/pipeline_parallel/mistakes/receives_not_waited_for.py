"""The stage runs on a buffer whose irecv nobody has waited for.

loses = ["pipeline_parallel.Pipeline"]
says = ["reads the buffer of its batch_isend_irecv"]
"""


def _exchange(sends, receives, group):
    operations = [dist.P2POp(dist.isend, tensor, peer, group) for tensor, peer in sends]
    operations += [dist.P2POp(dist.irecv, tensor, peer, group) for tensor, peer in receives]
    works = dist.batch_isend_irecv(operations) if operations else []
    for work in works[: len(sends)]:
        work.wait()
