"""The neighbours are counted in the world where the stages are counted in the group.

loses = ["pipeline_parallel.pipeline_forward.groups", "pipeline_parallel.Pipeline.groups"]
says = ["Global rank 1 is not part of group .ranks 0, 2."]
"""


def _neighbours(group):
    stage = dist.get_rank(group)
    return stage - 1 if stage > 0 else None, stage + 1 if stage + 1 < dist.get_world_size(group) else None
