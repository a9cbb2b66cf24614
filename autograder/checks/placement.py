"""Where ranks work: in a whole world, or in a mesh of groups that run side by side.

The groups of a mesh work on different values, so that whoever takes the world for the group, or a rank of the one for a
rank of the other, is wrong rather than stuck.
"""

from __future__ import annotations

import dataclasses

Mesh = tuple[tuple[int, ...], ...]


Mesh = tuple[tuple[int, ...], ...]


class Members:
    """An example of one group: `members` are its global ranks (None: all of `world_size`, and `group=None`)."""

    world_size: int
    members: tuple[int, ...] | None

    @property
    def ranks(self) -> tuple[int, ...]:
        """Global ranks of the members, in group order."""
        return self.members or tuple(range(self.world_size))

    @property
    def size(self) -> int:
        """Members of the group."""
        return len(self.ranks)

    def group_of(self, rank: int) -> tuple[int, ...]:
        """The group that the rank works in; none for a rank outside."""
        return self.ranks if rank in self.ranks else ()


@dataclasses.dataclass(frozen=True)
class Placed:
    """What all examples share. `mesh` are the groups (None: the whole world, and `group=None`)."""

    task: str
    world_size: int
    mesh: Mesh | None = None
    seed: int = 0

    @property
    def groups(self) -> Mesh:
        """Global ranks of the members of every group."""
        return self.mesh or (tuple(range(self.world_size)),)

    @property
    def size(self) -> int:
        """Members of a group."""
        return len(self.groups[0])

    def place(self, rank: int) -> tuple[int, int]:
        """The number of the rank's group, and its rank in it."""
        return next((g, ranks.index(rank)) for g, ranks in enumerate(self.groups) if rank in ranks)

    def group_of(self, rank: int) -> tuple[int, ...]:
        """The group that the rank works in."""
        return self.groups[self.place(rank)[0]]

    def setting(self) -> list[str]:
        """How many ranks there are, and in which groups."""
        groups = " and ".join(str(list(ranks)) for ranks in self.groups)
        return [f"world size {self.world_size}", *([f"groups {groups} side by side"] if self.mesh else [])]
