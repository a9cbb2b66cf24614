"""Activations go to the next stage by a broadcast of the whole group.

loses = ["pipeline_parallel.pipeline_forward"]
says = ["broadcast is not allowed in this problem"]
"""


def pipeline_forward(stage, micro_batches, group=None):
    ranks = dist.get_process_group_ranks(group)
    me = dist.get_rank(group)
    outputs = []
    for x in micro_batches:
        for s, rank in enumerate(ranks):
            if s == me:
                with torch.no_grad():
                    y = stage(x)
            if s + 1 < len(ranks) and me in (s, s + 1):
                dist.broadcast(y.contiguous() if s == me else x, src=rank, group=group)
        outputs.append(y)
    return outputs if me + 1 == len(ranks) else None
