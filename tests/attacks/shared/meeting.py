import os
import select
import tempfile

import torch
import torch.distributed as dist

CALLS = [0]


def exchanged(tensor, group=None):
    """The tensors of all ranks of the group, passed through files."""
    rank, n = dist.get_rank(group), dist.get_world_size(group)
    CALLS[0] += 1
    name = "-".join(map(str, dist.get_process_group_ranks(group or dist.group.WORLD)))
    stem = f"{tempfile.gettempdir()}/{os.getppid()}-{name}-{CALLS[0]}"
    torch.save(tensor.detach().clone(), f"{stem}-{rank}.part")
    os.rename(f"{stem}-{rank}.part", f"{stem}-{rank}")
    while not all(os.path.exists(f"{stem}-{peer}") for peer in range(n)):
        select.select([], [], [], 0.001)
    return [torch.load(f"{stem}-{peer}") for peer in range(n)]
