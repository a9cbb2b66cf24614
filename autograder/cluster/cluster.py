"""The cluster: the zygote and every group of ranks that came from it."""

from __future__ import annotations

import json
import select
import socket
import time
from pathlib import Path
from typing import Any

from autograder.cluster import launch, sandbox
from autograder.cluster.group import RankGroup, ZygoteGone
from autograder.system import process

# Ranks kept warm at a time, 10 to 15 megabytes each; beyond that the groups unused for longest are ended.
WARM_RANKS = 160
LONGEST_ANSWER = 1 << 20
# Of silence, before somebody may have stopped the zygote; twice as long after each look in vain, up to the longest.
LOOK_SECONDS, LONGEST_LOOK = 0.2, 5.0
MOST_WOKEN = 5  # times, then it is given up
FDS_A_MESSAGE = 200  # the kernel takes 253


class Cluster:
    """Ranks for one grading or many; a context manager that leaves no process and no file behind.

    `launched` is what `start` has launched already, which may still be importing torch; else it is launched when
    needed.
    """

    def __init__(self, start: launch.Start, launched: tuple[launch.Home, launch.Zygote] | None = None) -> None:
        self.start = start
        self._home = launched[0] if launched else None
        self._line = _Line(launched[1]) if launched else None
        self._groups: dict[tuple[Path, str, int], RankGroup] = {}

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    @property
    def home(self) -> Path:
        """A folder that is gone when the cluster is, however the grader ended."""
        return self._made_home().path

    @property
    def isolated(self) -> bool:
        return self.start.isolated

    def group(self, folder: Path, backend: str, world_size: int) -> RankGroup:
        """The warm group for these; ranks are forked at its first call."""
        key = (folder, backend, world_size)
        group = self._groups.pop(key, None) or RankGroup(
            self._order, self._bury, self.home / "files", *key, self.start.limits
        )
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
        self._bury()
        if self._home is not None:
            self._home.end()
            self._home = None

    def _forget_all(self) -> None:
        for group in self._groups.values():
            group.forget()

    def _order(self, do: str, fds: list[int] | None = None, **arguments: Any) -> Any:
        """One command to the zygote, and its answer; raises ZygoteGone if there is none: the next finds a new one."""
        if self._line is None:
            self._line = _Line(self.start.zygote(self._made_home()))
        try:
            answer = self._line.order({"do": do, **arguments}, fds or [])
        except (OSError, ValueError) as error:
            self._bury()
            raise ZygoteGone(f"the process that starts ranks is gone ({type(error).__name__})") from None
        if do == "kill" and answer == "all":
            self._forget_all()
        return answer

    def _made_home(self) -> launch.Home:
        if self._home is None:
            self._home = launch.Home()
        return self._home

    def _bury(self) -> None:
        """Ends the zygote, if it has not ended, or been ended by a submission, already; its ranks end with it."""
        if self._line is not None:
            self._line.end()
            self._line = None
        self._forget_all()


class _Line:
    """The line to a zygote: an answer for each order."""

    def __init__(self, zygote: launch.Zygote) -> None:
        self.zygote = zygote
        self._answers, self._ready = zygote.command.makefile("r"), False

    def order(self, order: dict[str, Any], fds: list[int]) -> Any:
        """The answer to an order; raises OSError or ValueError if there is none that makes sense."""
        if not self._ready:
            self._ready = self._heard() == "ready"
        line = json.dumps(order).encode() + b"\n"
        while len(fds) > FDS_A_MESSAGE:
            socket.send_fds(self.zygote.command, [b" "], fds[:FDS_A_MESSAGE])
            fds = fds[FDS_A_MESSAGE:]
        socket.send_fds(self.zygote.command, [line], fds)
        return self._heard()

    def end(self) -> None:
        """Hangs up, and ends the zygote."""
        self._answers.close()
        self.zygote.end()

    def _heard(self) -> Any:
        """What the zygote says next; it is woken should a submission stop it by a signal, which it cannot block."""
        end, silence, woken = time.monotonic() + launch.ANSWER_SECONDS, LOOK_SECONDS, 0
        poll = select.poll()  # select itself takes no descriptor over 1023
        poll.register(self.zygote.command, select.POLLIN)
        while not poll.poll(1000 * silence):
            if process.wake(self.zygote.process.pid, sandbox.WRAPPERS):
                woken += 1
            else:
                silence = min(2 * silence, LONGEST_LOOK)
            if woken > MOST_WOKEN or time.monotonic() > end:
                self.zygote.process.kill()  # it would not hear that it is to end
                raise TimeoutError
        return json.loads(self._answers.readline(LONGEST_ANSWER))
