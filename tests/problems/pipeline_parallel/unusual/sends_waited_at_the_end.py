"""Sends are started and left under way until the step ends; receives block.

may_lose = []
"""

_under_way = []


def _exchange(sends, receives, group):
    _under_way.extend((dist.isend(tensor, peer, group=group), tensor) for tensor, peer in sends)
    for tensor, peer in receives:
        dist.recv(tensor, peer, group=group)


class Pipeline(Pipeline):
    def step(self, batch_size, inputs=None, targets=None):
        loss = super().step(batch_size, inputs, targets)
        while _under_way:
            work, _ = _under_way.pop()
            work.wait()
        return loss
