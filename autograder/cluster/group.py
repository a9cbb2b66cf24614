"""A group of warm ranks, seen from the grader: called, watched, and killed after anything but a clean example."""

from __future__ import annotations

import contextlib
import fcntl
import itertools
import os
import re
import selectors
import signal
import socket
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, Any

import msgspec
import torch

from autograder.cluster.outcome import End, Outcome, RankOutcome, leftovers
from autograder.cluster.simulated import SimulatedFabric, SimulationConfig
from autograder.cluster.watchdog import Sample, Watchdog
from autograder.fabric.connect import DEVICES
from autograder.protocol import messages
from autograder.protocol.limits import Limits
from autograder.protocol.messages import Inbox, MalformedMessage, ReplyQuota
from autograder.protocol.operation import SourceLine
from autograder.protocol.reply import Reply
from autograder.protocol.request import Request
from autograder.protocol.status_board import StatusBoard

TICK = 0.05  # seconds between two looks at ranks that have not replied
READY_SECONDS = 120.0  # for a group to come up, on however loaded a machine
OUTPUT_SHOWN, STACK_READ = 2000, 40_000
SWITCH = -1  # among the ranks that the selector knows
Order = Callable[..., Any]


class GroupFailed(Exception):
    """The group did not come up; the kit's fault or the machine's, never a student's."""


class ZygoteGone(GroupFailed):
    """The process that ranks are forked from has ended; the next order finds another one."""


class RankGroup:
    """`world_size` ranks of one submission on one backend.

    `order` sends a command to the zygote, `renew` ends it, so that the next command finds a new one; `scratch` is for
    files of the grader's. The group forks its ranks when it is first called, and again after a failure.
    """

    def __init__(
        self,
        order: Order,
        renew: Callable[[], None],
        scratch: Path,
        folder: Path,
        backend: str,
        world_size: int,
        limits: Limits,
    ) -> None:
        self.world_size, self.backend, self.folder = world_size, backend, folder
        self._order, self._renew, self._scratch, self._limits = order, renew, scratch, limits
        self._alive = False
        self._fabric: SimulatedFabric | None = None

    def call(
        self,
        requests: Sequence[Request],
        tensors: Sequence[dict[str, torch.Tensor]],
        config: SimulationConfig = SimulationConfig(),
    ) -> Outcome:
        """Runs one example: rank r gets `requests[r]` and `tensors[r]`, and nothing of any other rank.

        `config` is what the backend "sim" simulates; the others do not look at it.
        """
        if not self._alive:
            self._come_up()
        if self._fabric is not None:
            self._fabric.begin(config)
        quota = ReplyQuota(self._limits.replied_bytes)
        inboxes = [Inbox(control, self._limits.reply_bytes, quota) for control in self._controls]
        frames = [messages.encode(*of_rank) for of_rank in zip(requests, tensors, strict=True)]
        # Sent close together: the first rank waits for the last one.
        for control, frame in zip(self._controls, frames, strict=True):
            with contextlib.suppress(OSError):  # the rank is dead or deaf; reading from it will tell
                control.sendall(frame)
        try:
            outcome = self._collect(inboxes)
        except ZygoteGone:
            ended = [RankOutcome(rank=rank, end=End.ZYGOTE_DIED) for rank in range(self.world_size)]
            return Outcome(ranks=tuple(ended))
        except BaseException:
            self.kill()  # whatever broke off the example, its replies must not be taken for the next one's
            raise
        if not outcome.returned:
            self.kill()
        return outcome

    @property
    def warm(self) -> bool:
        """Whether the ranks are there."""
        return self._alive

    def kill(self) -> None:
        """Kills the ranks; the next call forks new ones."""
        if self._alive:
            with contextlib.suppress(ZygoteGone):
                self._order("kill", group=self._id)
            self.forget()

    def forget(self) -> None:
        """The ranks are gone: closes what led to them."""
        if not self._alive:
            return
        self._alive = False
        self._selector.close()
        for control in self._controls:
            control.close()
        if self._fabric is not None:
            self._fabric.close()
        for file in self._files:
            file.close()

    def _come_up(self) -> None:
        """Starts the ranks; from a new zygote, in a new sandbox, if an earlier group has left this one unfit."""
        try:
            self._start()
        except GroupFailed:
            self._renew()
            self._start()

    def _start(self) -> None:
        self._id = next(_NUMBERS)
        self._files = [_unnamed_file(self._scratch) for _ in range(1 + 2 * self.world_size)]
        self._outputs, self._stacks = self._files[1 : 1 + self.world_size], self._files[1 + self.world_size :]
        self._board = StatusBoard(self._files[0].fileno(), self.world_size)
        pairs = [socket.socketpair() for _ in range(self.world_size)]
        self._controls = [ours for ours, _ in pairs]
        self._selector = selectors.DefaultSelector()
        for rank, control in enumerate(self._controls):
            self._selector.register(control, selectors.EVENT_READ, rank)
        handed = [theirs for _, theirs in pairs]
        fabric: list[socket.socket] = []
        if self.backend == "sim":
            self._fabric = SimulatedFabric(self.world_size, self._limits.sent_bytes)
            fabric = self._fabric.sockets()
            self._selector.register(self._fabric, selectors.EVENT_READ, SWITCH)
        self._alive = True
        ends: list[IO[bytes] | socket.socket] = [self._files[0], *handed, *self._outputs, *self._stacks, *fabric]
        fds = [end.fileno() for end in ends]
        try:
            self._order("start", group=self._id, specs=[self._spec(rank) for rank in range(self.world_size)], fds=fds)
        finally:
            for theirs in (*handed, *fabric):
                theirs.close()
        self._await_ready()

    def _await_ready(self) -> None:
        for control in self._controls:
            control.settimeout(READY_SECONDS)
        try:
            ready = [messages.decode(*messages.receive(control), Reply)[0].status for control in self._controls]
        except (EOFError, OSError, MalformedMessage):
            ready = []
        if ready != ["ready"] * self.world_size:
            said = "\n".join(filter(None, (self._output(rank) for rank in range(self.world_size))))
            self.kill()
            raise GroupFailed(f"{self.world_size} ranks on {self.backend} did not come up\n{said}".strip())

    def _spec(self, rank: int) -> dict[str, Any]:
        return {
            "rank": rank,
            "world_size": self.world_size,
            "backend": self.backend,
            "folder": str(self.folder),
            "limits": msgspec.to_builtins(self._limits),
        }

    def _collect(self, inboxes: list[Inbox]) -> Outcome:
        """Reads replies until every rank has one, or until the rest never will."""
        ends: dict[int, RankOutcome] = {}
        watch, next_look, quiet = Watchdog(self._limits), time.monotonic() + TICK, True
        while len(ends) < self.world_size:
            events = self._selector.select(TICK)
            quiet = quiet and not events
            for key, _ in events:
                if self._fabric is not None and key.data == SWITCH:
                    self._fabric.on_ready()
                elif key.data not in ends and (end := self._read(key.data, inboxes[key.data])) is not None:
                    ends[key.data] = end
                    self._tell_fabric(end)
                    if end.status != "returned":
                        self._selector.unregister(key.fileobj)  # whatever may come from there is not read
            if time.monotonic() >= next_look:
                self._look(watch, ends, quiet)
                next_look, quiet = time.monotonic() + TICK, True
        ranks = tuple(ends[rank] for rank in range(self.world_size))
        if self._fabric is not None:
            return _as_simulated(ranks, self._fabric)
        done = all(rank.status == "returned" for rank in ranks)
        return Outcome(ranks=ranks, leftovers=leftovers(ranks) if done else ())

    def _tell_fabric(self, end: RankOutcome) -> None:
        """The switch cannot see what has become of a rank."""
        if self._fabric is not None:
            if end.end is End.DIED:
                self._fabric.died(end.rank, end.exit_status)
            else:
                self._fabric.finished(end.rank)

    def _read(self, rank: int, inbox: Inbox) -> RankOutcome | None:
        try:
            frame = inbox.read()
            if frame is None:
                return None
            reply, tensors = messages.decode(*frame, Reply)
        except EOFError:
            return self._silent(rank, End.DIED, exit_status=self._exit_status(rank))
        except MalformedMessage as error:
            return RankOutcome(rank=rank, end=End.MALFORMED, detail=str(error), output=self._output(rank))
        output = "" if reply.status == "returned" else self._output(rank)
        device = DEVICES[self.backend]
        return RankOutcome(rank=rank, end=End.REPLIED, reply=reply, tensors=tensors, output=output, device=device)

    def _look(self, watch: Watchdog, ends: dict[int, RankOutcome], quiet: bool) -> None:
        """Ends the example for the ranks that have not replied, if they never will."""
        pending = set(range(self.world_size)) - ends.keys()
        if not pending:
            return
        failed = any(end.status != "returned" for end in ends.values())
        verdict = watch.look(self._board.read(), self._samples, pending, failed, quiet)
        if not verdict:
            return
        self._order("signal", group=self._id, number=int(signal.SIGUSR1))
        time.sleep(TICK)
        for rank, end in verdict.items():
            detail = f"more than {self._limits.processes} processes" if end is End.EXCEEDED else ""
            ends[rank] = self._silent(rank, end, detail=detail)

    def _samples(self) -> list[Sample]:
        """The zygote's word on every rank; a zygote that says anything else is not obeyed by the grader alone."""
        try:
            samples = msgspec.convert(self._order("sample", group=self._id), list[Sample])
        except msgspec.ValidationError:
            samples = []
        if len(samples) != self.world_size:
            self._renew()
            raise ZygoteGone("the process that starts ranks talks nonsense: somebody else commands it")
        return samples

    def _exit_status(self, rank: int) -> int | None:
        """The exit status of a rank whose socket has closed; it may take a moment to be known."""
        for _ in range(40):
            end = self._samples()[rank].end
            if end is not None:
                return end
            time.sleep(TICK)
        return None

    def _silent(self, rank: int, end: End, detail: str = "", exit_status: int | None = None) -> RankOutcome:
        """What is known of a rank that has not replied."""
        return RankOutcome(
            rank=rank,
            end=end,
            detail=detail,
            exit_status=exit_status,
            activity=self._board.read()[rank],
            stack=self._stack(rank),
            output=self._output(rank),
        )

    def _stack(self, rank: int) -> tuple[SourceLine, ...]:
        """The submission's lines in what faulthandler wrote, outermost first."""
        text = _ends_of(self._stacks[rank], STACK_READ)
        last = text.rpartition("(most recent call first):")[2]
        frames = re.findall(r'File "([^"\n]+)", line (\d{1,7}) in (\S+)', last)
        owned = [(f, int(n), name) for f, n, name in frames if f.startswith(f"{self.folder}/")]
        return tuple(SourceLine(f.removeprefix(f"{self.folder}/"), n, name) for f, n, name in reversed(owned))

    def _output(self, rank: int) -> str:
        """What the rank printed in this example, its head and its tail."""
        return _ends_of(self._outputs[rank], OUTPUT_SHOWN)


_NUMBERS = itertools.count()


def _as_simulated(ranks: Sequence[RankOutcome], fabric: SimulatedFabric) -> Outcome:
    """The outcome as the switch saw it."""
    seen = fabric.operations()
    ranks = tuple(msgspec.structs.replace(rank, observed=seen[rank.rank]) for rank in ranks)
    return Outcome(ranks=ranks, verdict=fabric.verdict, seconds=fabric.seconds())


def _unnamed_file(folder: Path) -> IO[bytes]:
    """A file of no name, which ranks append to whatever becomes of their folders."""
    file = tempfile.TemporaryFile(dir=folder, buffering=0)
    fcntl.fcntl(file, fcntl.F_SETFL, fcntl.fcntl(file, fcntl.F_GETFL) | os.O_APPEND)
    return file


def _ends_of(file: IO[bytes], size: int) -> str:
    """The file's first and last bytes, `size` in all; a rank may have made anything of it."""
    there = os.fstat(file.fileno()).st_size
    if there <= size:
        return os.pread(file.fileno(), size, 0).decode("utf-8", "replace")
    head, tail = (os.pread(file.fileno(), size // 2, at).decode("utf-8", "replace") for at in (0, there - size // 2))
    return f"{head}\n[{there - size:,} bytes left out]\n{tail}"
