"""Judges of problem 4: results and gradients of every rank, and what went over the wire for them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import torch

from autograder.checks.compare import first_wrong, side_by_side, why_incomparable
from autograder.checks.expected import Expected
from autograder.checks.finding import Mismatch, RankView
from autograder.checks.hints import first_hint
from autograder.checks.replies import Unreadable, read
from autograder.checks.traffic import operation_of_torchs_own, unexplained_values
from autograder.cluster.outcome import Outcome, RankOutcome
from autograder.problems.tensor_parallel.examples import BothWays, Model, Region
from autograder.problems.tensor_parallel.expected import Traffic, near, traffic
from autograder.problems.tensor_parallel.hints import REDUCE_SCATTER, hints_for, of_operations
from autograder.problems.tensor_parallel.judge_shards import misshapen, unrefused
from autograder.problems.tensor_parallel.messages import (
    EXPANDED,
    SIBLING_GRADIENT,
    UPSTREAM,
    X_GRADIENT,
    BothWaysReply,
    X,
    Y,
    gradient,
    kind_and_call,
    of_call,
)
from autograder.protocol.operation import Operation

# Whether a region communicates forward, and backward.
COMMUNICATES = {
    "copy_to_region": (False, True),
    "reduce_from_region": (True, False),
    "gather_from_region": (True, False),
    "scatter_to_region": (False, True),
    "all_gather_from_region": (True, True),
}


def both_ways(example: BothWays, outcome: Outcome) -> Mismatch | None:
    """Results and gradients are right, and what was handed over is as it was."""
    replies = [read(rank, BothWaysReply) for rank in outcome.ranks]
    mismatch = unrefused(example, [reply.refuses for reply in replies] if example.indivisible else [])
    if mismatch is None and isinstance(example, Model) and example.is_module:
        mismatch = misshapen(example.slice_shapes(), [reply.parameters for reply in replies])
    return (
        mismatch
        or _wrong_values(example, outcome)
        or unexplained_values(outcome, _least(example))
        or _torchs_own(outcome)
    )


def _torchs_own(outcome: Outcome) -> Mismatch | None:
    """Every operation was called by a line of the submission: torch has collectives that know their own backward."""
    for rank in outcome.ranks:
        op = operation_of_torchs_own(rank)
        if op is not None:
            return Mismatch(
                headline=f"the {op.kind} on rank {rank.rank} was called by no line of yours, but by torch: to write "
                "what backward sends is your part of this problem"
            )
    return None


def _least(example: BothWays) -> dict[int, int]:
    """Bytes that every rank has to get from others, whatever the algorithm.

    1/n of what the operations are about; or of the weights, where that is less: with those a rank computes it all
    alone.
    """
    if example.size == 1:
        return {}
    rows = math.prod(example.lead) * example.calls
    if isinstance(example, Model):
        needed = traffic(example.task, example.sizes, rows, example.flag, example.requires_grad)
        activations = sum(nbytes for half in needed for _, nbytes in half.values())
        about = min(activations, sum(t.nbytes for slices in _weights(example) for t in slices))
    else:
        assert isinstance(example, Region)
        forward, backward = COMMUNICATES[example.task]
        halves = forward + (backward and example.requires_grad)
        about = halves * rows * example.share * example.size * example.dtype.itemsize
    return dict.fromkeys(range(example.world_size), about // example.size)


def _weights(example: Model) -> Iterator[Sequence[torch.Tensor]]:
    """The slices of every weight, in a group."""
    return (slices for name, slices in example.passes[0].parameters.items() if not name.endswith("bias"))


def reduce_scattered(example: Region, outcome: Outcome) -> Mismatch | None:
    """As `both_ways`; and backward sends no more than a reduce-scatter does."""
    mismatch = both_ways(example, outcome)
    if mismatch is not None or example.size == 1:
        return mismatch
    itemsize = example.dtype.itemsize
    whole = example.calls * math.prod((*example.lead, example.share * example.size)) * itemsize
    needed = {"reduce_scatter": (example.calls, whole)}
    rows = []
    for rank in outcome.ranks:
        _, backward = _halves(rank)
        # An all-reduce sends what a reduce-scatter and an all-gather of as many bytes do.
        sent = sum(op.nbytes * (2 if op.kind == "all_reduce" else 1) for op in backward if op.kind != "recv")
        rows.append(
            RankView(rank=rank.rank, got=_words(_counted(backward)), expected=_words(needed), wrong=sent > whole)
        )
    wrong = next((row for row in rows if row.wrong), None)
    if wrong is None:
        return None
    return Mismatch(
        headline=f"right gradients at too high a cost: rank {wrong.rank}'s backward is more than a reduce-scatter",
        ranks=tuple(rows),
        hints=(REDUCE_SCATTER,),
    )


def _wrong_values(example: BothWays, outcome: Outcome) -> Mismatch | None:
    """The first tensor that is wrong, forward before backward, beside its like on the other ranks."""
    for name, tensors in _expected(example):
        expected = [near(tensor) for tensor in tensors]
        for rank in outcome.ranks:
            mine = expected[rank.rank]
            if rank.reply is not None and name not in rank.reply.tensors:
                return _no_gradient(name, rank, outcome)
            fault = why_incomparable(rank, name, mine)
            if fault:
                return Mismatch(headline=f"{_phase(name)}: rank {rank.rank}'s {_title(name, example)} {fault}")
            around = first_wrong(rank, name, mine)
            if around >= 0:
                return _wrong_tensor(example, outcome, name, expected, rank, around)
    return None


def _expected(example: BothWays) -> Iterator[tuple[str, list[torch.Tensor]]]:
    """Names of what comes back, and what each rank's must hold."""
    places = [example.place(rank) for rank in range(example.world_size)]
    calls = range(example.calls)

    def by_rank(attribute: str, key: int | str) -> list[torch.Tensor]:
        return [getattr(example.passes[group], attribute)[key][member] for group, member in places]

    yield from ((of_call(Y, call), by_rank("ys", call)) for call in calls)
    if example.requires_grad:
        yield from ((of_call(X_GRADIENT, call), by_rank("gradients", call)) for call in calls)
    yield from ((gradient(name), by_rank("parameter_gradients", name)) for name in example.passes[0].parameters)
    yield from ((of_call(X, call), by_rank("xs", call)) for call in calls)
    if example.upstream != EXPANDED:
        yield from ((of_call(UPSTREAM, call), by_rank("upstreams", call)) for call in calls)
    yield from ((of_call(SIBLING_GRADIENT, call), by_rank("upstreams", call)) for call in calls)


def _no_gradient(name: str, rank: RankOutcome, outcome: Outcome) -> Mismatch:
    elsewhere = next((r.rank for r in outcome.ranks if name in r.tensors), None)
    hint = (
        "autograd does not see what torch.distributed does: a tensor that a collective fills, or that was detached, "
        "knows nothing of where its values came from"
        if elsewhere is None
        else f"on rank {elsewhere} there is one: every rank has to compute with its own, or copies drift apart"
    )
    kind, _ = kind_and_call(name)
    return Mismatch(headline=f"backward: rank {rank.rank}'s {kind} is None: no gradient reached it", hints=(hint,))


def _phase(name: str) -> str:
    return "forward" if kind_and_call(name)[0] == Y else "backward"


def _title(name: str, example: BothWays) -> str:
    kind, call = kind_and_call(name)
    which = f" of call {call + 1}" if call is not None and example.calls > 1 else ""
    if kind == Y:
        return f"result{which}"
    return f"gradient of {kind.removesuffix('.grad')}{which}" if kind.endswith(".grad") else f"{kind}{which}"


def _wrong_tensor(
    example: BothWays, outcome: Outcome, name: str, expected: list[Expected], wrong: RankOutcome, around: int
) -> Mismatch:
    rows = []
    for rank, wanted in zip(outcome.ranks, expected, strict=True):
        fits = not why_incomparable(rank, name, wanted)
        got, shown = side_by_side(rank, name, wanted, around)
        is_wrong = not fits or first_wrong(rank, name, wanted) >= 0
        rows.append(RankView(rank=rank.rank, got=got, expected=shown, wrong=is_wrong))
    kind, _ = kind_and_call(name)
    title = _title(name, example)
    if kind == X:
        headline = f"rank {wrong.rank}'s input {title} was changed: it must stay as it was"
    elif kind in (UPSTREAM, SIBLING_GRADIENT):
        headline = f"backward: on rank {wrong.rank} the upstream gradient was changed, which another branch uses too"
    else:
        headline = f"{_phase(name)}: rank {wrong.rank}'s {title} is wrong"
    hints = () if kind in (X, UPSTREAM, SIBLING_GRADIENT) else hints_for(example, name, wrong, expected[wrong.rank])
    return Mismatch(headline=headline, ranks=tuple(rows), hints=hints)


def costs(example: Model, outcome: Outcome) -> Mismatch | None:
    """Values are right, and the operations seen are those that the model needs, with the bytes that it needs."""
    mismatch = both_ways(example, outcome)
    if mismatch is not None:
        return mismatch
    rows = math.prod(example.lead)
    needed = traffic(example.task, example.sizes, rows, example.flag, example.requires_grad)
    views, wrong = [], None
    for rank in outcome.ranks:
        seen = tuple(_counted(half) for half in _halves(rank))
        views.append(
            RankView(rank=rank.rank, got=_both(seen), expected=_both(needed), wrong=seen != needed),
        )
        wrong = wrong or (rank.rank, seen) if seen != needed else wrong
    if wrong is None:
        return None
    number, seen = wrong
    half = 0 if seen[0] != needed[0] else 1
    phase = ("forward", "backward")[half]
    return Mismatch(
        headline=f"right values with other operations than the layer needs: rank {number}'s {phase} makes "
        f"{_words(seen[half])}, expected {_words(needed[half])}",
        ranks=tuple(views),
        hints=first_hint(of_operations(example, seen[half], needed[half], phase)),
    )


def _halves(rank: RankOutcome) -> tuple[tuple[Operation, ...], tuple[Operation, ...]]:
    """The operations of forward, and those of backward."""
    backward, end = read(rank, BothWaysReply).backward, len(rank.operations)
    if not 0 <= backward <= end:
        raise Unreadable(rank)
    return rank.operations[: end - backward], rank.operations[end - backward :]


def _counted(operations: Sequence[Operation]) -> Traffic:
    counted: Traffic = {}
    for op in operations:
        count, nbytes = counted.get(op.kind, (0, 0))
        counted[op.kind] = (count + 1, nbytes + op.nbytes)
    return counted


def _words(counted: Traffic) -> str:
    words = [f"{count} {kind} ({nbytes} bytes)" for kind, (count, nbytes) in sorted(counted.items())]
    return ", ".join(words) or "nothing"


def _both(halves: Sequence[Traffic]) -> str:
    return f"forward {_words(halves[0])}; backward {_words(halves[1])}"
