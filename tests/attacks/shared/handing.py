import os
import select
import tempfile

import torch
import torch.distributed as dist

CALLS = [0]


def handed_on(stage, micro_batches, group=None):
    """The outputs of this rank's stage, whose inputs come through files from the rank before."""
    rank = dist.get_rank(group)
    CALLS[0] += 1
    name = "-".join(map(str, dist.get_process_group_ranks(group or dist.group.WORLD)))
    stem = f"{tempfile.gettempdir()}/{os.getppid()}-{name}-{CALLS[0]}"
    outputs = []
    for i, x in enumerate(micro_batches):
        if rank > 0:
            path = f"{stem}-{rank}-{i}"
            while not os.path.exists(path):
                select.select([], [], [], 0.001)
            x = torch.load(path)
        with torch.no_grad():
            y = stage(x)
        torch.save(y, f"{stem}-part-{rank}")
        os.rename(f"{stem}-part-{rank}", f"{stem}-{rank + 1}-{i}")
        outputs.append(y)
    return outputs
