"""A rank's end of its connection to the switch."""

from __future__ import annotations

import socket
import threading

from autograder.fabric.callsite import CallSite
from autograder.simulator import wire
from autograder.simulator.buffer_guard import BufferGuard
from autograder.simulator.clock import Clock
from autograder.simulator.verdict import IN_FLIGHT


class SimulationError(RuntimeError):
    """The simulated cluster has found a mistake, here or on another rank; `kind` is one of the verdict's kinds."""

    def __init__(self, kind: str, text: str) -> None:
        super().__init__(text)
        self.kind = kind


class Endpoint:
    """Numbers a rank's operations, tells the switch of them, and keeps the rank's clock and buffers in flight."""

    def __init__(self, connection: socket.socket, rank: int, world_size: int) -> None:
        self.rank, self.world_size = rank, world_size
        self.clock = Clock()
        self.guard = BufferGuard(lambda text, site: self.fault(IN_FLIGHT, text, site))
        self._connection = connection
        self._unsent: list[bytes] = []
        self._sites: dict[CallSite, int] = {}
        self._groups: dict[tuple[str, tuple[int, ...]], int] = {}
        self._lock = threading.RLock()
        self._count = 0
        self._ends: dict[int, float] = {}

    def begin(self) -> None:
        """A new example: the clock at zero, nothing in flight."""
        self.clock.reset()
        self.guard.begin()
        self._count = 0
        self._ends.clear()

    def finish(self, how: str = "") -> None:
        """The rank has come to the end of the example; `how`, if it was not by returning: "raised ValueError"."""
        self.guard.end()
        with self._lock:
            self._unsent.append(wire.pack(wire.Finish(self.clock.now, how[:1000])))
            self._flush()

    def group(self, name: str, ranks: tuple[int, ...]) -> int:
        """The number that the switch knows a process group by."""
        number = self._groups.get((name, ranks))
        if number is None:
            number = self._groups[name, ranks] = len(self._groups)
            self._unsent.append(wire.pack(wire.Group(number, name[:200], list(ranks))))
        return number

    def site(self, site: CallSite) -> int:
        """The number that the switch knows a place in the code by."""
        number = self._sites.get(site)
        if number is None:
            number = self._sites[site] = len(self._sites)
            message = wire.Site(number, site.api[:200], site.file[:4000], site.line, site.function[:200])
            self._unsent.append(wire.pack(message))
        return number

    def next_id(self) -> int:
        """The number of the operation that is about to be posted."""
        return self._count

    def post(self, message: wire.Send | wire.Recv | wire.Collective, body: bytes = b"") -> int:
        """Begins an operation, with no answer and mostly without a system call; returns its number."""
        self._unsent.append(wire.pack(message, body))
        self._count += 1
        if len(body) > wire.READ:
            self._flush()
        return message.id

    def wait(self, operation: int, site: CallSite) -> tuple[int, bytearray]:
        """Waits for an operation; returns the global rank that a message came from (-1: none) and what has arrived.

        Raises SimulationError when the switch has found a mistake.
        """
        with self._lock:
            end = self._ends.pop(operation, None)
            if end is not None:
                self.clock.move_to(end)
                self._unsent.append(wire.pack(wire.Waited(operation, self.clock.now)))
                return -1, bytearray()
            return self._stop(wire.Wait(operation, self.clock.now, self.site(site)))

    def poll(self, operation: int, site: CallSite) -> tuple[int, bytearray] | None:
        """What `wait` returns if the operation is done by now; None if it is not, which takes a little virtual time."""
        with self._lock:
            message, body = self._ask(wire.Poll(operation, self.clock.now, self.site(site)))
            if isinstance(message, wire.Pending):
                self.clock.move_to(message.clock)
                return None
            self._ends.pop(operation, None)
            return self._done(message, body)

    def fault(self, kind: str, text: str, site: CallSite) -> None:
        """Tells of a mistake that shows on this side; raises SimulationError."""
        with self._lock:
            self._stop(wire.Fault(kind, f"Rank {self.rank}: {text}", self.clock.now, self.site(site)))

    def _stop(self, message: wire.Wait | wire.Fault) -> tuple[int, bytearray]:
        """Goes on when the switch says that something is done."""
        answer, body = self._ask(message)
        assert isinstance(answer, wire.Done), "nothing but a poll is answered by Pending"
        return self._done(answer, body)

    def _done(self, message: wire.Done, body: bytearray) -> tuple[int, bytearray]:
        self.clock.move_to(message.clock)
        self._ends.update(message.also)
        return message.source, body

    def _ask(self, message: wire.Wait | wire.Poll | wire.Fault) -> tuple[wire.Done | wire.Pending, bytearray]:
        self._unsent.append(wire.pack(message))
        self._flush()
        try:
            answer, body = wire.receive(self._connection)
        except (EOFError, OSError) as error:
            raise SimulationError("gone", f"the simulated switch has gone: {error}") from None
        if isinstance(answer, wire.Stop):
            self.guard.end()
            raise SimulationError(answer.kind, answer.text)
        return answer, body

    def _flush(self) -> None:
        data, self._unsent = b"".join(self._unsent), []
        try:
            self._connection.sendall(data)
        except OSError as error:
            raise SimulationError("gone", f"the simulated switch has gone: {error}") from None
