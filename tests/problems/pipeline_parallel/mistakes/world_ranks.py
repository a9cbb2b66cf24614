"""The neighbours are counted in the world where the stages are counted in the group.

loses = ["pipeline_parallel.pipeline_forward.groups", "pipeline_parallel.Pipeline.groups"]
says = ["src and dst are ranks of the world"]
"""


def _neighbours(group):
    stage = dist.get_rank(group)
    return stage - 1 if stage > 0 else None, stage + 1 if stage + 1 < dist.get_world_size(group) else None
