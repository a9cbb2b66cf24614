"""A stage waits until the last stage has finished a micro-batch before it starts on the next one.

mistake = 41
loses = ["pipeline_parallel.pipeline_forward.overlap"]
says = ["(?i)overlap|at the same time|virtual|seconds"]
"""


def pipeline_forward(stage, micro_batches, group=None):
    before, after = _neighbours(group)
    outputs = []
    done = torch.zeros(1)
    for x in micro_batches:
        if before is not None:
            dist.recv(x, src=before, group=group)
        with torch.no_grad():
            y = stage(x)
        if after is None:
            outputs.append(y)
        else:
            dist.send(y.contiguous(), dst=after, group=group)
            dist.recv(done, src=after, group=group)
        if before is not None:
            dist.send(done, dst=before, group=group)
    return outputs if after is None else None
