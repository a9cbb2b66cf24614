"""The simulated cluster itself: operations go in, answers and a verdict come out. No sockets, no processes.

What is decided is decided in the order of virtual time. An event may be taken up once every rank that is still running
has a clock beyond it, for only then can no rank do anything earlier. So the order in which the ranks' messages happen
to arrive changes nothing, and when no rank runs and no event is left, nobody can ever go on.
"""

import heapq
from collections import defaultdict
from collections.abc import Callable
from typing import Any

from autograder.simulator import at_rest, collectives, verdict
from autograder.simulator.delays import NONE, Delays
from autograder.simulator.link_scheduler import LinkScheduler, Transfer
from autograder.simulator.matching import Matcher
from autograder.simulator.operation import Group, Operation, Place
from autograder.simulator.rank_state import BLOCKED, DEAD, FINISHED, RUNNING, Rank
from autograder.simulator.topology import Topology
from autograder.simulator.verdict import RankLine, Verdict
from autograder.simulator.wire import Done, Pending, Stop, ToRank

# Events of the same moment are taken in this order, then by rank, then by the order in which they were posted.
POST, RELEASE, POLL, FAULT, DEATH = range(5)
# Looking whether an operation is done takes this much virtual time, more each time in a row.
POLL_SECONDS = 1e-6
# Looks in a row, with nothing else going on anywhere, after which a rank counts as stuck.
MAX_IDLE_POLLS = 1000


class Simulation:
    """One example on `world_size` ranks. `answer(rank, message, body)` is called to let a blocked rank go on."""

    def __init__(
        self,
        world_size: int,
        topology: Topology,
        answer: Callable[[int, ToRank, bytes], None],
        *,
        buffered: bool = False,
        delays: Delays = NONE,
    ) -> None:
        self.ranks = [Rank() for _ in range(world_size)]
        self.verdict: Verdict | None = None
        self._topology, self._answer, self._buffered, self._delays = topology, answer, buffered, delays
        self._links = LinkScheduler(world_size)
        self._matcher = Matcher()
        self._calls: dict[tuple[Group, int], dict[int, Operation]] = defaultdict(dict)
        self._events: list[tuple[float, int, int, int, Any]] = []
        self._ended: list[tuple[Operation, float]] = []  # those that a blocked rank waits for, and when they end
        self._count = 0

    @property
    def over(self) -> bool:
        """Whether nothing more will happen: a verdict, or all ranks have returned and nothing is amiss."""
        return self.verdict is not None or all(rank.state == FINISHED for rank in self.ranks)

    # What ranks do

    def post(self, operation: Operation) -> None:
        """A rank has begun an operation."""
        rank = self.ranks[operation.rank]
        rank.clock = operation.posted
        rank.operations.append(operation)
        if operation.kind == "send":
            channel = operation.group, operation.peer
            delay = self._delays.message(operation.rank, rank.messages)
            operation.ready = max(rank.last_seen.get(channel, 0.0), operation.posted + delay)
            rank.last_seen[channel] = operation.ready
            rank.messages += 1
            if self._buffered:
                self._end(operation, operation.posted)
        elif operation.kind != "recv":
            operation.sequence = rank.collectives[operation.group]
            rank.collectives[operation.group] += 1
        self._event(operation.ready, POST, operation.rank, operation)

    def wait(self, rank: int, operation: Operation, clock: float) -> None:
        """A rank stops until its operation is done."""
        self._block(rank, operation, clock)
        if operation.end is not None:
            self._wake(operation, operation.end)

    def waited(self, rank: int, operation: Operation, clock: float) -> None:
        """A rank has waited for an operation that it knew to be done."""
        self.ranks[rank].clock = clock
        operation.waited = clock

    def poll(self, rank: int, operation: Operation, clock: float) -> None:
        """A rank asks whether its operation is done."""
        self._block(rank, operation, clock)
        self.ranks[rank].is_polling = True
        self._event(clock, POLL, rank, operation)

    def fault(self, rank: int, kind: str, text: str, place: Place, clock: float) -> None:
        """A rank's own side has seen a mistake."""
        self._block(rank, None, clock)
        self._event(clock, FAULT, rank, (kind, text, place))

    def finish(self, rank: int, clock: float, how: str = "") -> None:
        """A rank has come to the end of the example."""
        state = self.ranks[rank]
        state.state, state.clock, state.how = FINISHED, clock, how

    def died(self, rank: int, how: str) -> None:
        """A rank's process has ended."""
        state = self.ranks[rank]
        if state.state != DEAD:
            state.state, state.how = DEAD, how
            self._event(state.clock, DEATH, rank, None)

    def stop(self, found: Verdict) -> None:
        """Ends the example with a verdict and tells the ranks that wait."""
        self.verdict = found
        for number, rank in enumerate(self.ranks):
            if rank.state == BLOCKED:
                rank.state = RUNNING
                self._answer(number, Stop(found.kind, str(found)), b"")

    # What follows from it

    def advance(self) -> None:
        """Does everything that can be decided by now."""
        while self.verdict is None:
            if not self._events:
                if not any(rank.state == RUNNING for rank in self.ranks):
                    self._judge()
                return
            now = self._events[0][0]
            if any(rank.state == RUNNING and rank.clock <= now for rank in self.ranks):
                return  # that rank may still do something earlier
            later = []
            while self._events and self._events[0][0] == now and self.verdict is None:
                _, kind, rank, _, subject = heapq.heappop(self._events)
                if kind == POST:
                    self._seen(subject)
                elif kind == RELEASE:
                    self._links.release(subject)
                else:
                    later.append((kind, rank, subject))
            for transfer in self._links.start(now):
                self._started(transfer)
            # Last, so that the answers tell of everything that this moment has decided.
            ended, self._ended = self._ended, []
            for operation, end in ended if self.verdict is None else ():
                self._wake(operation, end)
            for kind, rank, subject in later:
                if self.verdict is None:
                    self._later(now, kind, rank, subject)

    def _event(self, time: float, kind: int, rank: int, subject: Any) -> None:
        self._count += 1
        heapq.heappush(self._events, (time, kind, rank, self._count, subject))

    def _seen(self, operation: Operation) -> None:
        """The other side sees an operation."""
        if operation.kind not in ("send", "recv"):
            return self._called(operation)
        other = self._matcher.send(operation) if operation.kind == "send" else self._matcher.recv(operation)
        if operation.kind == "send" and self._buffered:
            self._send(operation)
        if other is None:
            return None
        send, recv = (operation, other) if operation.kind == "send" else (other, operation)
        found = verdict.mismatch(send, recv)
        if found:
            return self.stop(found)
        if not self._buffered:
            return self._send(send)
        if send.arrival is not None:
            self._arrived(send, recv, send.arrival)
        return None

    def _send(self, send: Operation) -> None:
        """A message is ready to go."""
        recv = send.partner
        ready = max(send.ready, recv.ready) if recv is not None and not self._buffered else send.ready
        link = self._topology.link(send.rank, send.peer)
        transfer = Transfer((send,), (2 * send.rank, 2 * send.peer + 1), link.seconds(send.nbytes), link.latency, ready)
        self._links.add(transfer)

    def _called(self, call: Operation) -> None:
        """A rank has come to a collective."""
        calls = self._calls[call.group, call.sequence]
        if calls:
            first = next(iter(calls.values()))
            what = collectives.disagreement(first, call)
            if what:
                return self.stop(verdict.collective_mismatch(first, call, what))
        calls[call.rank] = call
        members = call.group.ranks
        if len(calls) < len(members):
            return None
        ordered = [calls[rank] for rank in members]
        wrong = collectives.size_mismatch(ordered)
        if wrong:
            first, second, sizes = wrong
            return self.stop(verdict.collective_mismatch(first, second, f"size ({sizes})"))
        seconds = collectives.seconds(ordered, self._topology)
        ports = [port for rank in members for port in (2 * rank, 2 * rank + 1)]
        return self._links.add(Transfer(tuple(ordered), ports, seconds, 0.0, call.ready))

    def _started(self, transfer: Transfer) -> None:
        """A transfer has got its ports: from now on its end is known."""
        self._event(transfer.end, RELEASE, transfer.order[2], transfer)
        first = transfer.operations[0]
        if first.kind != "send":
            collectives.deliver(list(transfer.operations))
            for call in transfer.operations:
                call.start = transfer.start
                self._end(call, transfer.end)
            return
        first.start = transfer.start
        first.arrival = transfer.end + transfer.latency
        if not self._buffered:
            self._end(first, transfer.end)
        if first.partner is not None:
            self._arrived(first, first.partner, first.arrival)

    def _arrived(self, send: Operation, recv: Operation, arrival: float) -> None:
        """Both the message and its receive are there."""
        recv.start, recv.body, send.body = send.start, send.body, None
        self._end(recv, max(recv.posted, arrival))

    def _end(self, operation: Operation, end: float) -> None:
        operation.end = end
        rank = self.ranks[operation.rank]
        if rank.state == BLOCKED and rank.waiting is operation and not rank.is_polling:
            self._ended.append((operation, end))
        elif operation.kind == "send":
            rank.news.append((operation, end))

    def _later(self, now: float, kind: int, number: int, subject: Any) -> None:
        """A look, a mistake seen by a rank, or a death, after everything else of this moment."""
        rank = self.ranks[number]
        if kind == DEATH:
            self.stop(at_rest.of_death(self.ranks, number))
        elif kind == FAULT:
            what, text, place = subject
            line = RankLine(number, text, place.api, -1, place.file, place.line)
            others = tuple(line for line in at_rest.lines(self.ranks) if line.rank != number)
            self.stop(Verdict(what, text, (number,), tuple(sorted((line, *others), key=lambda line: line.rank))))
        elif subject.end is not None and subject.end <= now:
            self._wake(subject, subject.end)
        else:
            idle = not self._events and not any(rank.state == RUNNING for rank in self.ranks)
            if idle and rank.polls > MAX_IDLE_POLLS:
                return self._judge()
            rank.polls = rank.polls + 1
            rank.state, rank.clock, rank.waiting = RUNNING, now + rank.polls * POLL_SECONDS, None
            self._answer(number, Pending(rank.clock), b"")
        return None

    def _block(self, number: int, operation: Operation | None, clock: float) -> None:
        rank = self.ranks[number]
        rank.state, rank.clock, rank.waiting, rank.is_polling = BLOCKED, clock, operation, False

    def _wake(self, operation: Operation, end: float) -> None:
        """Lets a rank go on that waits for this operation, which is done at `end`."""
        rank = self.ranks[operation.rank]
        rank.clock = max(rank.clock, end)
        if operation.kind != "send":  # the rank may know of a send's end already, depending on real time
            rank.clock += self._delays.wake(operation.rank, rank.wakes)
            rank.wakes += 1
        rank.polls = 0
        rank.state, rank.waiting = RUNNING, None
        operation.waited = rank.clock
        also = [(other.id, end) for other, end in rank.news if other.waited is None]
        rank.news.clear()
        source = operation.partner.rank if operation.partner is not None else -1
        body = b""
        if operation.kind != "send":  # what is sent is kept until it has arrived
            body, operation.body = operation.body or b"", None
        self._answer(operation.rank, Done(rank.clock, source, also), body)

    def _judge(self) -> None:
        """No rank runs and nothing is under way."""
        found = at_rest.judge(self.ranks, self._calls)
        if found is not None:
            self.stop(found)
