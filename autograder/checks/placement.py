"""Where the ranks of an example work: in the whole world, in a group of some of its ranks, or in groups side by side.

Groups side by side work on different values, so that whoever takes the world for the group, or a rank of the one for a
rank of the other, is wrong rather than stuck.
"""

from __future__ import annotations

import dataclasses

Mesh = tuple[tuple[int, ...], ...]


class Placed:
    """An example whose ranks work in the groups of `mesh`, by global rank (None: the whole world, and `group=None`)."""

    world_size: int

    @property
    def mesh(self) -> Mesh | None:
        """The groups; ranks may be in none."""
        raise NotImplementedError

    @property
    def groups(self) -> Mesh:
        """Global ranks of the members of every group, in group order; the world is one of them if there is no other."""
        return self.mesh or (tuple(range(self.world_size)),)

    @property
    def size(self) -> int:
        """Members of a group."""
        return len(self.groups[0])

    def place(self, rank: int) -> tuple[int, int]:
        """The number of the rank's group, and its rank in it."""
        return next((g, ranks.index(rank)) for g, ranks in enumerate(self.groups) if rank in ranks)

    def group_of(self, rank: int) -> tuple[int, ...]:
        """The group that the rank works in; none for a rank outside of all."""
        return next((ranks for ranks in self.groups if rank in ranks), ())


class InOneGroup(Placed):
    """An example of one group: `members` are its global ranks (None: the whole world); the other ranks look on."""

    members: tuple[int, ...] | None

    @property
    def mesh(self) -> Mesh | None:
        """The one group."""
        return (self.members,) if self.members else None

    @property
    def ranks(self) -> tuple[int, ...]:
        """Global ranks of the members, in group order."""
        return self.groups[0]


@dataclasses.dataclass(frozen=True)
class SideBySide(Placed):
    """An example of a task in groups that fill the world."""

    task: str
    world_size: int
    mesh: Mesh | None = None
    seed: int = 0

    def setting(self) -> list[str]:
        """How many ranks there are, and in which groups."""
        groups = " and ".join(str(list(ranks)) for ranks in self.groups)
        return [f"world size {self.world_size}", *([f"groups {groups} side by side"] if self.mesh else [])]
