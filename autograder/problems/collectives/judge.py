"""Judges of problem 1: every argument of every rank after the calls, and what went over the wire for it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

from autograder.checks.compare import first_wrong, out_of_step, side_by_side, why_incomparable
from autograder.checks.expected import Expected
from autograder.checks.finding import Mismatch, RankView
from autograder.checks.replies import read
from autograder.checks.show import show, show_dtype
from autograder.checks.traffic import unexplained_values
from autograder.cluster.outcome import Outcome
from autograder.problems.collectives.examples import ROOTED, Collective
from autograder.problems.collectives.expected import MEANINGS
from autograder.problems.collectives.hints import CHEAPER, Evidence, hints_for
from autograder.problems.collectives.messages import CallReply, argument_and_index, of_call
from autograder.simulator import topology
from autograder.simulator.topology import Link

OUTPUTS = {
    "gather": "gather_list",
    "all_gather": "output",
    "reduce_scatter": "output",
    "all_to_all": "output",
}


def meaning(example: Collective, call: int) -> list[dict[str, Expected]]:
    """What each member's arguments must hold after that call."""
    function = MEANINGS[example.function]
    return function(example.arguments[call], root=example.root, op=example.op, splits=example.rows())


def values(example: Collective, outcome: Outcome) -> Mismatch | None:
    """Outputs hold the right values, inputs what they held before, and the messages make that possible."""
    for call in range(example.calls):
        expected = meaning(example, call)
        for member, argument in _arguments(expected):
            rank = outcome.ranks[example.ranks[member]]
            name = of_call(call, argument)
            fault = why_incomparable(rank, name, expected[member][argument])
            if fault:
                return Mismatch(headline=f"rank {rank.rank}'s {_title(argument)} {fault}")
            around = first_wrong(rank, name, expected[member][argument])
            if around >= 0:
                evidence = Evidence(example, example.arguments[call], expected, member, argument, rank.tensors[name])
                return _wrong_values(evidence, outcome, call, around)
    least = {number: example.calls * _least_received(example, member) for member, number in enumerate(example.ranks)}
    return unexplained_values(outcome, least)


def lockstep(example: Collective, outcome: Outcome) -> Mismatch | None:
    """Results are right, and the same to the last bit on every rank."""
    mismatch = values(example, outcome)
    if mismatch is not None:
        return mismatch
    ranks = [outcome.ranks[rank] for rank in example.ranks]
    for call in range(example.calls):
        name = of_call(call, "tensor")
        rows = out_of_step(ranks, name)
        if rows:
            one, other = (row.rank for row in rows)
            return Mismatch(
                headline=f"ranks {one} and {other} end with results that differ in the last bits",
                ranks=rows,
                hints=(
                    "replicas that start to differ drift apart: each element has to be added up once, in one order, "
                    "and its sum copied to every rank",
                ),
            )
    return None


def refusals(example: Collective, outcome: Outcome) -> Mismatch | None:
    """The call raised on every rank what the contract says, and nothing was sent."""
    hint = f"op={example.op} has no meaning in {show_dtype(example.dtype)}; say so before anything is sent"
    raised = {number: read(outcome.ranks[number], CallReply).raised for number in example.ranks}
    for number, name in raised.items():
        if name != example.must_raise:
            rows = [RankView(rank=r, got=did or "nothing", expected=example.must_raise) for r, did in raised.items()]
            headline = f"rank {number} raised {name or 'nothing'}: it has to raise {example.must_raise}"
            return Mismatch(headline=headline, ranks=tuple(rows), hints=(hint,))
        operations = outcome.ranks[number].operations
        if operations:
            first = operations[0]
            headline = f"rank {number} raised {name} too late: {first.kind} had been called before"
            return Mismatch(headline=headline, where=(f"{first.file}:{first.line}",), hints=(hint,))
    return None


def _arguments(expected: list[dict[str, Expected]]) -> Iterator[tuple[int, str]]:
    """Members and names of arguments: outputs before inputs, as a reader would look at them."""
    names = [(member, name) for member, by_name in enumerate(expected) for name in by_name]
    return iter(sorted(names, key=lambda pair: (pair[1].startswith(("input", "scatter_list")), pair[0])))


def _title(argument: str) -> str:
    name, index = argument_and_index(argument)
    return f"{name}[{index}]" if index else name


def _wrong_values(evidence: Evidence, outcome: Outcome, call: int, around: int) -> Mismatch:
    """The wrong tensor beside its like on the other ranks, all shown around the first wrong element."""
    example, argument, member = evidence.example, evidence.argument, evidence.member
    rows = []
    for m, by_name in enumerate(evidence.expected):
        rank, name = outcome.ranks[example.ranks[m]], of_call(call, argument)
        if argument in by_name and not why_incomparable(rank, name, by_name[argument]):
            got, wanted = side_by_side(rank, name, by_name[argument], around)
            wrong = first_wrong(rank, name, by_name[argument]) >= 0
            given = show(evidence.before[m][argument], around) if argument == "tensor" and example.calls == 1 else ""
            rows.append(RankView(rank=rank.rank, given=given, got=got, expected=wanted, wrong=wrong))
    kept = _must_keep(example, member, argument)
    what = "was changed: it must stay as it was" if kept else "is wrong"
    headline = f"rank {example.ranks[member]}'s {_title(argument)} {what}{' after the second call' if call else ''}"
    return Mismatch(headline=headline, ranks=tuple(rows), hints=() if kept else hints_for(evidence))


def _must_keep(example: Collective, member: int, argument: str) -> bool:
    """Whether the contract gives the argument back as it was."""
    if example.function in OUTPUTS:
        return argument_and_index(argument)[0] != OUTPUTS[example.function]
    if example.function == "reduce":
        return member != example.root
    return argument.startswith("scatter_list") or (example.function == "broadcast" and member == example.root)


def _least_received(example: Collective, member: int) -> int:
    """Bytes that must reach a member in one call, whatever the algorithm."""
    block, n, function = example.block_nbytes, example.size, example.function
    if n == 1:
        return 0
    if function in ROOTED:
        to_root = {"gather": (n - 1) * block, "reduce": block}
        return to_root.get(function, 0) if member == example.root else 0 if function in to_root else block
    if function == "all_gather":
        return (n - 1) * block
    if function == "all_to_all":
        rest = math.prod(example.shape[1:]) * example.dtype.itemsize
        return sum(row[member] for i, row in enumerate(example.rows()) if i != member) * rest
    return block


def costs(example: Collective, outcome: Outcome) -> Mismatch | None:
    """Every rank sends and receives at most what the best-known plain algorithms do, and is done as soon."""
    mismatch = values(example, outcome)
    if mismatch is not None:
        return mismatch
    bounds = [Bounds.of(example, member) for member in range(example.size)]
    rows, over = [], []
    for member, number in enumerate(example.ranks):
        yours, bound = _spent(outcome, number), bounds[member].times(example.calls)
        excess = [what for what in yours if yours[what] > SLACK * bound[what]]
        over += [(number, what, yours[what], bound[what]) for what in excess]
        rows.append(RankView(rank=number, got=_words(yours), expected=f"at most {_words(bound)}", wrong=bool(excess)))
    if not over:
        return None
    number, what, count, limit = over[0]
    return Mismatch(
        headline=f"right values at too high a cost: rank {number} {what.strip()} {_amount(what, count)}, "
        f"{_amount(what, limit)} are enough",
        ranks=tuple(rows),
        hints=(CHEAPER[example.function],),
    )


def spent(example: Collective, outcome: Outcome) -> dict[int, str]:
    """What each member of the group spent, in words."""
    return {number: _words(_spent(outcome, number)) for number in example.ranks}


SLACK = 1.001  # for the rounding of virtual seconds; counts are exact
# What is counted, as a verb; messages and bytes are both sent.
SENDS, SENDS_BYTES, RECEIVES_BYTES, TAKES = "sends", "sends ", "receives", "takes"


def _spent(outcome: Outcome, number: int) -> dict[str, float]:
    """What a rank spent, by the switch's own record."""
    operations = outcome.ranks[number].operations
    sent = [op.nbytes for op in operations if op.kind == "send"]
    received = [op.nbytes for op in operations if op.kind == "recv"]
    seconds = max(outcome.seconds) if outcome.seconds else 0.0
    return {SENDS: len(sent), SENDS_BYTES: sum(sent), RECEIVES_BYTES: sum(received), TAKES: seconds}


def _amount(what: str, value: float) -> str:
    if what == TAKES:
        return f"{value * 1e6:.4g} virtual microseconds"
    return f"{value:.0f} {'messages' if what == SENDS else 'bytes'}"


def _words(amounts: dict[str, float]) -> str:
    """Short, for a cell of a table: "2 messages, 96 B sent, 96 B received, 60.06 us"."""
    words: dict[str, Callable[[float], str]] = {
        SENDS: lambda count: f"{count:.0f} message{'' if count == 1 else 's'}",
        SENDS_BYTES: lambda count: f"{count:.0f} B sent",
        RECEIVES_BYTES: lambda count: f"{count:.0f} B received",
        TAKES: lambda seconds: f"{seconds * 1e6:.4g} us",
    }
    return ", ".join(words[what](value) for what, value in amounts.items() if value != math.inf)


class Bounds(NamedTuple):
    """What one call may cost a member: messages and bytes sent, bytes received, virtual seconds of all members."""

    messages: float
    sent: float
    received: float
    seconds: float

    def times(self, calls: int) -> dict[str, float]:
        """The same for several calls in a row."""
        one = {SENDS: self.messages, SENDS_BYTES: self.sent, RECEIVES_BYTES: self.received, TAKES: self.seconds}
        return {what: calls * value for what, value in one.items()}

    @classmethod
    def of(cls, example: Collective, member: int) -> Bounds:
        """The bounds for this member. With n ranks, blocks of S bytes, latency a and bandwidth b of the slowest link:

        broadcast and reduce take the binomial tree's ceil(log2 n) (a + S/b); scatter and gather the root's n-1 blocks
        one after the other, all_gather, reduce_scatter and all_to_all the ring's n-1 steps, (n-1)(a + S/b); all_reduce
        twice that with chunks of S/n.
        """
        n, block, is_root = example.size, example.block_nbytes, member == example.root
        link = _slowest_link(example)
        steps = math.ceil(math.log2(n))
        tree = steps * (link.latency + link.seconds(block))
        fan = (n - 1) * (link.latency + link.seconds(block))
        half = math.ceil(n / 2) * block
        if example.function == "broadcast":
            return cls(steps, math.inf, 0 if is_root else block, tree)
        if example.function == "reduce":
            return cls(n - 1, 0 if is_root else block, steps * block, tree)
        if example.function == "scatter":
            return cls(n - 1, (n - 1) * block if is_root else math.inf, 0 if is_root else half, fan)
        if example.function == "gather":
            return cls(n - 1, 0 if is_root else half, (n - 1) * block if is_root else math.inf, fan)
        rounds = (2 if example.function == "all_reduce" else 1) * (n - 1)
        if example.function == "all_reduce":
            block = math.ceil(math.prod(example.shape) / n) * example.dtype.itemsize
        return cls(rounds, rounds * block, rounds * block, rounds * (link.latency + link.seconds(block)))


def _slowest_link(example: Collective) -> Link:
    """The link that the farthest two members talk over."""
    network, ranks = topology.load(example.topology), example.ranks
    return max((network.link(ranks[0], rank) for rank in ranks[1:]), key=lambda link: link.seconds(1) + link.latency)
