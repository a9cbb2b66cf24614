"""The trusted side: reads what ranks send over their sockets, checks it, and hands it to the simulation.

    switch = Switch(world_size, topology.load("pod"))
    switch.attach(rank, socket)            for every rank; the sockets stay the caller's to close
    selector.register(switch, EVENT_READ)  readable whenever on_ready() has something to do
    switch.on_ready()
    switch.over, switch.verdict, switch.report()
    switch.reset()                         before the next example on the same ranks

How a rank's process ended is the caller's to tell (`died`): the switch itself sees no more than a closed connection,
which stops nothing. A rank that sends what is no message gets a verdict; nothing that it sends raises an error here.
"""

import selectors
import socket

from autograder.simulator import delays, intake, rank_report, verdict, wire
from autograder.simulator.delays import NONE, Delays
from autograder.simulator.intake import Names, expect
from autograder.simulator.operation import Group
from autograder.simulator.rank_report import RankReport
from autograder.simulator.rank_state import BLOCKED, FINISHED, RUNNING
from autograder.simulator.simulation import Simulation
from autograder.simulator.topology import Topology
from autograder.simulator.verdict import Verdict
from autograder.simulator.wire import MalformedMessage

MAX_UNHEARD = 1 << 12  # messages of a rank that have come too late, after a verdict
MAX_UNREAD = 1 << 28  # bytes that a rank leaves unread
OVERHEAD = 1 << 8
READS = 64  # of one rank at a time: the others have something to say, too


class TooMuch(MalformedMessage):
    """More than a rank may send; it may make sense otherwise."""


class _Port:
    """One rank's connection, and the names that it has given to places and groups."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.inbox = wire.Inbox()
        self.unsent = bytearray()
        self.names = Names()
        self.unheard = 0


class Switch:
    """`delays` are an adversarial schedule; with a `seed` instead, one is drawn. `buffered`: sends need not wait.

    `most` are the bytes that all ranks may send in one example, each message counted as `OVERHEAD` more (None: any
    number).
    """

    def __init__(
        self,
        world_size: int,
        topology: Topology,
        *,
        buffered: bool = False,
        seed: int | None = None,
        delays: Delays = NONE,
        most: int | None = None,
    ) -> None:
        self.world_size, self.topology, self._most = world_size, topology, most
        self._ports: dict[int, _Port] = {}
        self._groups: dict[tuple[str, tuple[int, ...]], Group] = {}
        self._hung_up: list[int] = []
        self._selector = selectors.DefaultSelector()
        self.reset(buffered=buffered, seed=seed, delays=delays)

    def reset(
        self, *, buffered: bool = False, seed: int | None = None, delays: Delays = NONE, zeroed_payloads: bool = False
    ) -> None:
        """Begins the next example: all clocks at zero, nothing left of the last one.

        `zeroed_payloads`: nothing but zeros is passed on, as if every rank had sent those.
        """
        self._zeroed_payloads, self._taken = zeroed_payloads, 0
        if seed is not None:
            delays = _drawn(seed, self.topology)
        self._simulation = Simulation(self.world_size, self.topology, self._answer, buffered=buffered, delays=delays)

    def attach(self, rank: int, connection: socket.socket) -> None:
        """Makes `connection` the rank's; it is set to non-blocking."""
        connection.setblocking(False)
        self._ports[rank] = _Port(connection)
        self._selector.register(connection, selectors.EVENT_READ, rank)

    def detach(self) -> None:
        """Lets go of all connections, closing none of them."""
        self._selector.close()

    def fileno(self) -> int:
        """A descriptor that is readable whenever `on_ready` has something to do."""
        return self._selector.fileno()

    def on_ready(self) -> list[int]:
        """Takes in what has arrived and decides what can be decided. Never blocks, nor reads for long.

        Returns the ranks whose connections have been closed from the other side since the last call.
        """
        self._hung_up = []
        for key, events in self._selector.select(0):
            if events & selectors.EVENT_WRITE and key.data in self._ports:
                self._flush(key.data)
            if events & selectors.EVENT_READ and key.data in self._ports:
                self._read(key.data)
        self._simulation.advance()
        return self._hung_up

    def finished(self, rank: int) -> None:
        """The rank's part of the example is over, whether or not it has said so itself."""
        self._drain(rank)
        state = self._simulation.ranks[rank]
        if state.state in (RUNNING, BLOCKED):
            self._simulation.finish(rank, state.clock)
        self._simulation.advance()

    def died(self, rank: int, how: str) -> None:
        """The rank's process has ended; `how` continues the sentence "rank 2 ...": "was killed by SIGKILL"."""
        self._drain(rank)
        self._simulation.died(rank, how)
        self._simulation.advance()

    def has_finished(self, rank: int) -> bool:
        """Whether the rank has come to the end of the example."""
        return self._simulation.ranks[rank].state == FINISHED

    @property
    def verdict(self) -> Verdict | None:
        """What is wrong, if anything is by now."""
        return self._simulation.verdict

    @property
    def over(self) -> bool:
        """Whether the example is judged: there is a verdict, or all ranks have finished and nothing is amiss."""
        return self._simulation.over

    def report(self) -> list[RankReport]:
        """What each rank has done in this example so far."""
        return [
            rank_report.of_rank(rank, state.clock, state.operations)
            for rank, state in enumerate(self._simulation.ranks)
        ]

    def trace(self) -> str:
        """This example in the Chrome trace event format."""
        return rank_report.trace([state.operations for state in self._simulation.ranks], self.topology.name)

    # Connections

    def _drain(self, rank: int) -> None:
        """Takes in all that the rank has sent."""
        while rank in self._ports and not self._read(rank):
            continue

    def _read(self, rank: int) -> bool:
        """Takes in some of what the rank has sent; whether that was all that there is so far."""
        port = self._ports[rank]
        for _ in range(READS):
            try:
                data = port.connection.recv(wire.READ)
            except (BlockingIOError, InterruptedError):
                return True
            except OSError:
                data = b""
            if not data:
                self._close(rank)
                self._hung_up.append(rank)
                return True
            try:
                for message, body in port.inbox.feed(data):
                    self._take(rank, port, message, body)
            except MalformedMessage as error:
                self._close(rank)
                self._malformed(rank, error)
                return True
            if len(data) < wire.READ or rank not in self._ports:
                return True
        return False

    def _close(self, rank: int) -> None:
        """Listens to the rank no more."""
        port = self._ports.pop(rank, None)
        if port is not None:
            self._selector.unregister(port.connection)

    def _answer(self, rank: int, message: wire.ToRank, body: bytes) -> None:
        port = self._ports.get(rank)
        if port is not None:
            port.unsent += wire.pack(message, body)
            self._flush(rank)
            if len(port.unsent) > MAX_UNREAD + len(body):
                self._close(rank)  # it does not listen, and asks on and on

    def _flush(self, rank: int) -> None:
        """Sends what the rank's socket takes; the selector tells when it takes more."""
        port = self._ports[rank]
        try:
            sent = port.connection.send(port.unsent)
        except (BlockingIOError, InterruptedError):
            sent = 0
        except OSError:
            sent = len(port.unsent)  # the rank has gone: reading will tell
        del port.unsent[:sent]
        events = selectors.EVENT_READ | (selectors.EVENT_WRITE if port.unsent else 0)
        if events != self._selector.get_key(port.connection).events:
            self._selector.modify(port.connection, events, rank)

    # Messages

    def _take(self, rank: int, port: _Port, message: wire.FromRank, body: bytes) -> None:
        """One message of a rank. Raises MalformedMessage if it makes no sense."""
        self._taken += OVERHEAD + len(body)
        if self._most is not None and self._taken > self._most:
            raise TooMuch(f"more than the {self._most:,} bytes that one example may send")
        if isinstance(message, wire.Site):
            port.names.add_site(message)
        elif isinstance(message, wire.Group):
            port.names.add_group(message.id, self._group(rank, message))
        elif self._simulation.verdict is not None:
            self._came_late(rank, port, message, self._simulation.verdict)
        else:
            state = self._simulation.ranks[rank]
            expect(state.state == RUNNING, "a message while it waits or after its end")
            expect(message.clock >= state.clock, "a clock that goes backwards")
            self._act(rank, port.names, message, bytes(len(body)) if self._zeroed_payloads else body)

    def _group(self, rank: int, message: wire.Group) -> Group:
        ranks = tuple(message.ranks)
        expect(rank in ranks and len(set(ranks)) == len(ranks) and max(ranks) < self.world_size, "a wrong group")
        return self._groups.setdefault((message.name, ranks), Group(message.name, ranks))

    def _came_late(self, rank: int, port: _Port, message: wire.Act, found: Verdict) -> None:
        """What a rank does after a verdict, which it is told of if it waits for an answer."""
        port.unheard += 1
        expect(port.unheard < MAX_UNHEARD, "more and more after the end of the example")
        if isinstance(message, wire.Wait | wire.Poll | wire.Fault):
            self._answer(rank, wire.Stop(found.kind, str(found)), b"")

    def _act(self, rank: int, names: Names, message: wire.Act, body: bytes) -> None:
        """What a running rank does."""
        simulation = self._simulation
        if isinstance(message, wire.Send | wire.Recv | wire.Collective):
            count = len(simulation.ranks[rank].operations)
            simulation.post(intake.operation(rank, count, names, message, body))
        elif isinstance(message, wire.Fault):
            expect(message.kind in (verdict.IN_FLIGHT, verdict.SELF), "an unknown mistake")
            simulation.fault(rank, message.kind, message.text, names.place(message.site), message.clock)
        elif isinstance(message, wire.Finish):
            simulation.finish(rank, message.clock, message.how)
        else:
            self._attend(rank, message)

    def _attend(self, rank: int, message: wire.Wait | wire.Waited | wire.Poll) -> None:
        """A rank waits for one of its operations, or asks after it."""
        simulation, begun = self._simulation, self._simulation.ranks[rank].operations
        expect(message.id < len(begun), "an unknown operation")
        operation = begun[message.id]
        expect(operation.waited is None, "a second wait for an operation")
        if isinstance(message, wire.Wait):
            simulation.wait(rank, operation, message.clock)
        elif isinstance(message, wire.Poll):
            simulation.poll(rank, operation, message.clock)
        else:
            expect(operation.end is not None and operation.kind == "send", "a wait that never was")
            simulation.waited(rank, operation, message.clock)

    def _malformed(self, rank: int, error: MalformedMessage) -> None:
        if self._simulation.verdict is None:
            road = "" if isinstance(error, TooMuch) else ", past torch.distributed"
            summary = f"Rank {rank} sent {error} to the simulated switch{road}."
            self._simulation.stop(Verdict(verdict.MALFORMED, summary, (rank,), ()))


def _drawn(seed: int, topology: Topology) -> Delays:
    """Delays of some tens of latencies: enough to turn any order around."""
    return delays.drawn(seed, 50 * max(link.latency for _, link in topology.levels) or 1.0)
