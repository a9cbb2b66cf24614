"""The group is taken for the whole world.

loses = ["pipeline_parallel.pipeline_forward.groups", "pipeline_parallel.Pipeline.groups"]
says = ["(?i)group"]
"""


def _neighbours(group):
    rank = dist.get_rank()
    return rank - 1 if rank > 0 else None, rank + 1 if rank + 1 < dist.get_world_size() else None
