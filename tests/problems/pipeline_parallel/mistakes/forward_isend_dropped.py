"""The forward pass starts its sends and waits for none of them.

loses = ["pipeline_parallel.pipeline_forward"]
says = ["never waits for its isend"]
"""


def pipeline_forward(stage, micro_batches, group=None):
    before, after = _neighbours(group)
    outputs = []
    for x in micro_batches:
        if before is not None:
            dist.recv(x, src=before, group=group)
        with torch.no_grad():
            y = stage(x)
        if after is None:
            outputs.append(y)
        else:
            dist.isend(y.contiguous(), dst=after, group=group)
    return outputs if after is None else None
