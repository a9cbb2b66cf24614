"""The cluster: the zygote and every group of ranks that came from it."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

from autograder.assignment import Limits
from autograder.cluster import launch
from autograder.cluster.group import GroupFailed, RankGroup

# Ranks kept warm at a time, 5 to 10 megabytes each; beyond that the groups unused for longest are ended.
WARM_RANKS = 160


class Cluster:
    """Ranks for one grading or many; a context manager that leaves no process and no file behind.

    `zygote` is one that was launched already (None: one is launched now). It may still be importing torch.
    """

    def __init__(self, limits: Limits, zygote: launch.Zygote | None = None) -> None:
        self._limits = limits
        self._zygote = zygote or launch.zygote()
        self._answers = self._zygote.command.makefile("r")
        self._ready = False
        self._groups: dict[tuple[Path, str, int], RankGroup] = {}

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    @property
    def scratch(self) -> Path:
        """A folder that is gone when the cluster is, however the grader ended: the zygote sees to it."""
        return Path(self._zygote.home.name)

    def group(self, folder: Path, backend: str, world_size: int) -> RankGroup:
        """The warm group for these; ranks are forked at its first call."""
        key = (folder, backend, world_size)
        group = self._groups.pop(key, None) or RankGroup(self._order, self.scratch, *key, self._limits)
        self._groups[key] = group  # the last one used stands last
        others = [other for other in self._groups.values() if other.warm and other is not group]
        while others and world_size + sum(other.world_size for other in others) > WARM_RANKS:
            others.pop(0).kill()
        return group

    def release(self, folder: Path) -> None:
        """Kills the groups of one submission; others stay warm."""
        for key in [key for key in self._groups if key[0] == folder]:
            self._groups.pop(key).kill()

    def close(self) -> None:
        """Ends every process."""
        self._answers.close()
        self._zygote.end()

    def _order(self, do: str, fds: list[int] | None = None, **arguments: Any) -> Any:
        """One command to the zygote, and its answer."""
        try:
            if not self._ready:
                self._ready = json.loads(self._answers.readline()) == "ready"
            line = json.dumps({"do": do, **arguments}).encode() + b"\n"
            socket.send_fds(self._zygote.command, [line], fds or [])
            return json.loads(self._answers.readline())
        except (OSError, ValueError) as error:
            raise GroupFailed(f"the process that starts ranks is gone ({type(error).__name__})") from None
