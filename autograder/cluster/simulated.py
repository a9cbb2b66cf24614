"""The simulated cluster as a group of ranks needs it: its switch, and the sockets that the ranks talk to it through."""

from __future__ import annotations

import socket

import msgspec

from autograder.protocol.operation import Operation
from autograder.simulator import topology
from autograder.simulator.switch import Switch
from autograder.simulator.verdict import Verdict
from autograder.system.process import signal_name


class SimulationConfig(msgspec.Struct, frozen=True):
    """What an example is simulated on.

    `schedule` draws adversarial delays; `buffered` sends need not wait for their recv; `zeroed_payloads` messages
    arrive as zeros.
    """

    topology: str = "laptop"
    schedule: int | None = None
    buffered: bool = False
    zeroed_payloads: bool = False


class SimulatedFabric:
    """The switch of one group. It lives in the grader: what it says of an example is nothing that a rank could forge.

    `most` are the bytes that it takes from all ranks in one example.
    """

    def __init__(self, world_size: int, most: int) -> None:
        self._switch = Switch(world_size, topology.load(SimulationConfig().topology), most=most)
        self._ends: list[socket.socket] = []

    def sockets(self) -> list[socket.socket]:
        """The ranks' ends, in rank order, to be handed to them and closed here."""
        pairs = [socket.socketpair() for _ in range(self._switch.world_size)]
        for rank, (ours, _) in enumerate(pairs):
            self._ends.append(ours)
            self._switch.attach(rank, ours)
        return [theirs for _, theirs in pairs]

    def fileno(self) -> int:
        """Readable whenever there is something to do."""
        return self._switch.fileno()

    def begin(self, config: SimulationConfig) -> None:
        """A new example: clocks at zero, nothing on the way."""
        self._switch.topology = topology.load(config.topology)
        self._switch.reset(buffered=config.buffered, seed=config.schedule, zeroed_payloads=config.zeroed_payloads)

    def on_ready(self) -> None:
        self._switch.on_ready()

    def finished(self, rank: int) -> None:
        """The rank has replied."""
        self._switch.finished(rank)

    def died(self, rank: int, status: int | None) -> None:
        """The rank's process has ended."""
        self._switch.died(rank, _how(status))

    @property
    def verdict(self) -> Verdict | None:
        """What is wrong with the example, if anything is."""
        return self._switch.verdict

    def seconds(self) -> tuple[float, ...]:
        """Each rank's virtual time."""
        return tuple(report.seconds for report in self._switch.report())

    def operations(self) -> list[tuple[Operation, ...]]:
        """What each rank did."""
        return [report.operations for report in self._switch.report()]

    def close(self) -> None:
        self._switch.detach()
        for end in self._ends:
            end.close()


def _how(status: int | None) -> str:
    """Continues "rank 2 ..."."""
    if status is None or status >= 0:
        return f"left the process with exit status {status or 0}"
    return f"was killed by {signal_name(-status)}"
