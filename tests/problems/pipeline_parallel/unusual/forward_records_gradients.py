"""The forward pass does not switch autograd off, and prints as it goes.

may_lose = []
"""


def pipeline_forward(stage, micro_batches, group=None):
    before, after = _neighbours(group)
    outputs = []
    for number, x in enumerate(micro_batches):
        if before is not None:
            dist.recv(x, src=before, group=group)
        y = stage(x)
        print(f"micro-batch {number}: {tuple(x.shape)} -> {tuple(y.shape)}")
        if after is None:
            outputs += [y]
        else:
            dist.send(y.detach().contiguous(), dst=after, group=group)
    return None if after is not None else outputs
