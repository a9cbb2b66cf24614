"""all_gather lives in a class, and the function has more keyword arguments than asked for, all with defaults.

may_lose = ["collectives.all_gather.cost"]
"""

from dataclasses import dataclass


@dataclass
class Ring:
    group: ProcessGroup | None
    verbose: bool = False

    @property
    def rank(self) -> int:
        return dist.get_rank(self.group)

    @property
    def size(self) -> int:
        return dist.get_world_size(self.group)

    def shift(self, outgoing, incoming):
        if self.verbose:
            print(f"rank {self.rank}: {outgoing} -> {(self.rank + 1) % self.size}")
        works = [
            dist.irecv(incoming, group_src=(self.rank - 1) % self.size, group=self.group),
            dist.isend(outgoing, group_dst=(self.rank + 1) % self.size, group=self.group),
        ]
        for work in works:
            work.wait()


def all_gather(output, input, group=None, *, verbose=False, reverse=False):
    ring = Ring(group, verbose)
    result = torch.empty(ring.size, input.numel(), dtype=input.dtype, device=input.device)
    result[ring.rank] = input.reshape(-1)
    for step in range(ring.size - 1):
        ring.shift(result[(ring.rank - step) % ring.size], result[(ring.rank - step - 1) % ring.size])
    output.copy_(result.view(output.shape))
