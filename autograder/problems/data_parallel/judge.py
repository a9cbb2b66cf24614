"""Judges of problem 3's functions: shards, states after a broadcast, gradients after an average."""

from __future__ import annotations

import collections
from collections.abc import Callable, Sequence

import numpy as np

from autograder.checks.compare import first_wrong, side_by_side, why_incomparable
from autograder.checks.expected import same
from autograder.checks.finding import Mismatch, RankView
from autograder.checks.hints import first_hint
from autograder.checks.replies import read
from autograder.checks.show import show
from autograder.checks.traffic import unexplained_values
from autograder.cluster.outcome import Outcome, RankOutcome
from autograder.problems.data_parallel.examples import Averaging, Broadcast, Shards
from autograder.problems.data_parallel.expected import Gradient, average
from autograder.problems.data_parallel.hints import whose_state
from autograder.problems.data_parallel.judge_gradients import wrong_gradient
from autograder.problems.data_parallel.messages import (
    ReplacedReply,
    ShardReply,
    batch_key,
    grad_key,
    shard_key,
    shards_among,
    state_key,
)
from autograder.problems.data_parallel.replicas import Replicas, Tensors, bounds


def sharded(example: Shards, outcome: Outcome) -> Mismatch | None:
    """Each rank has its rows in a tensor or tuple like the batch, which is unharmed, and wrong calls were refused."""
    for rank in outcome.ranks:
        reply = read(rank, ShardReply, raised=len(example.faults))
        mismatch = _shard(example, rank, reply.type) or _faults(example, reply.raised)
        if mismatch is not None:
            return mismatch
    return None


def _shard(example: Shards, rank: RankOutcome, got: str) -> Mismatch | None:
    kind, count = ("tuple", example.tuple_of) if example.tuple_of else ("Tensor", 1)
    pieces = shards_among(rank.tensors)
    if got != kind or pieces != count:
        what = f"a {got}" if got != "tuple" else f"a tuple of {pieces}"
        wanted = f"a tuple of {count} tensors, split alike" if example.tuple_of else "a tensor"
        return Mismatch(headline=f"rank {rank.rank} gets {what} from shard_batch; for this batch it has to be {wanted}")
    start, stop = bounds(example.rows, rank.rank, example.world_size)
    for i, tensor in enumerate(example.batch):
        expected = same(tensor[start:stop])
        fault = why_incomparable(rank, shard_key(i), expected)
        wrong = not fault and first_wrong(rank, shard_key(i), expected) >= 0
        if fault or wrong:
            return _other_rows(example, rank, i, fault)
        key, before = batch_key(i), same(tensor)
        if why_incomparable(rank, key, before) or first_wrong(rank, key, before) >= 0:
            return Mismatch(headline=f"the batch itself was changed on rank {rank.rank}: it must stay as it was")
    return None


def _other_rows(example: Shards, rank: RankOutcome, i: int, fault: str) -> Mismatch:
    start, stop = bounds(example.rows, rank.rank, example.world_size)
    tensor, got = example.batch[i], rank.tensors.get(shard_key(i))
    row = RankView(
        rank=rank.rank,
        got="nothing" if got is None else show(got),
        expected=show(tensor[start:stop]),
        wrong=True,
    )
    listed = f"rows {start} to {stop - 1}" if stop > start else "no rows"
    what = f"shard {fault}" if fault else "shard has the right shape, but other rows"
    hint = (
        f"{example.rows} rows on {example.world_size} ranks: shards are consecutive and in rank order, the first "
        f"{example.rows % example.world_size} ranks hold one row more; rank {rank.rank} has {listed}"
    )
    return Mismatch(headline=f"rank {rank.rank}'s {what}", ranks=(row,), hints=(hint,))


def _faults(example: Shards, by_call: Sequence[str]) -> Mismatch | None:
    for (asked, with_odd), raised in zip(example.faults, by_call, strict=True):
        if raised != "ValueError":
            end = f"raises {raised}" if raised else "returns"
            if with_odd:
                rows = f"{example.rows} and {example.rows + 1} rows"
                headline = f"shard_batch of a tuple whose tensors have {rows} {end}; it must raise ValueError"
            else:
                headline = f"shard_batch(batch, {asked}, {example.world_size}) {end}; it must raise ValueError"
            return Mismatch(headline=headline)
    return None


def broadcasted(example: Broadcast, outcome: Outcome) -> Mismatch | None:
    """All state is that of src, in the same Parameter objects, and gradients are untouched."""
    mismatch = replaced(example, outcome) or state_of(example, outcome, example.root, state_key, "broadcast_parameters")
    if mismatch is not None:
        return mismatch
    for member, number in enumerate(example.ranks):
        changed = _changed_gradient(outcome.ranks[number], example.gradients(member))
        if changed:
            return Mismatch(headline=f"broadcast_parameters changed rank {number}'s gradient of {changed}")
    return unexplained_values(outcome, state_bytes(example, example.root))


def state_bytes(example: Replicas, root: int) -> dict[int, int]:
    """What every rank but the root's has to receive of its parameters and buffers."""
    total = sum(tensor.nbytes for tensor in example.states[root].values())  # what is tied is there once
    return {number: total for member, number in enumerate(example.ranks) if member != root}


def replaced(example: Replicas, outcome: Outcome) -> Mismatch | None:
    """Every parameter is still the same object."""
    for number in example.ranks:
        names = read(outcome.ranks[number], ReplacedReply).replaced
        if names:
            return Mismatch(
                headline=f"rank {number}'s {names[0]} is no longer the same Parameter object",
                hints=("an optimizer that was made before holds the old objects: write values into them in place",),
            )
    return None


def state_of(
    example: Replicas, outcome: Outcome, root: int, key_of: Callable[[str], str], function: str
) -> Mismatch | None:
    """Every member's parameters and buffers, as they came back by these keys, are bit for bit the member `root`'s."""
    source, buffers = example.ranks[root], dict(example.model.named_buffers())
    for name, tensor in example.states[root].items():
        for member, number in enumerate(example.ranks):
            rank, expected, key = outcome.ranks[number], same(tensor), key_of(name)
            what = f"rank {number}'s {'buffer' if name in buffers else 'parameter'} {name}"
            fault = why_incomparable(rank, key, expected)
            if fault:
                return Mismatch(headline=f"{what} {fault} after {function}")
            around = first_wrong(rank, key, expected)
            if around < 0:
                continue
            got, wanted = side_by_side(rank, key, expected, around)
            given = show(example.states[member][name], around)
            row = RankView(rank=number, given=given, got=got, expected=wanted, wrong=True)
            return Mismatch(
                headline=f"{what} is not rank {source}'s after {function}",
                ranks=(row,),
                hints=first_hint(whose_state(example, rank, key, name, source)),
            )
    return None


def averaged(example: Averaging, outcome: Outcome) -> Mismatch | None:
    """Every gradient is the average, frozen parameters' are as they were, and parameters are the same objects."""
    mismatch = replaced(example, outcome)
    named = list(example.model.named_parameters())
    for name, parameter in named:
        if mismatch is not None:
            return mismatch
        own = tuple(given.get(name) for given in example.gradients)
        if not parameter.requires_grad:
            mismatch = _frozen(example, outcome, name)
        else:
            others = tuple(
                (f"this is the average of {other}: ranks add up different parameters", expected.tensor())
                for other, _ in named
                if other != name and (expected := average([given.get(other) for given in example.gradients]))
            )
            gradient = Gradient(name=name, key=grad_key(name), when="", own=own, expected=average(own), others=others)
            mismatch = wrong_gradient(example, gradient, outcome)
    return mismatch or unexplained_values(outcome, gradient_bytes(example, example.gradients))


def gradient_bytes(example: Replicas, gradients: Sequence[Tensors]) -> dict[int, int]:
    """What every rank has to learn at least: of each parameter that another member has a gradient of, as many bytes.

    Nobody has to tell of a gradient that is zero.
    """
    needed = {}
    for member, number in enumerate(example.ranks):
        others = [own for other, own in enumerate(gradients) if other != member]
        needed[number] = sum(
            parameter.nbytes
            for name, parameter in example.model.named_parameters()
            if parameter.requires_grad and any(name in own and bool(own[name].any()) for own in others)
        )
    return needed


def _frozen(example: Averaging, outcome: Outcome, name: str) -> Mismatch | None:
    for member, number in enumerate(example.ranks):
        given = {n: tensor for n, tensor in example.gradients[member].items() if n == name}
        rank = outcome.ranks[number]
        if not given and grad_key(name) in rank.tensors:
            headline = f"the frozen parameter {name} has been given a gradient on rank {number}"
        elif _changed_gradient(rank, given):
            headline = f"the gradient of the frozen parameter {name} was changed on rank {number}"
        else:
            continue
        return Mismatch(headline=headline, hints=("parameters with requires_grad False are skipped",))
    return None


def _changed_gradient(rank: RankOutcome, given: Tensors) -> str:
    """The first parameter whose gradient is not the given one bit for bit; "" if there is none."""
    for name, tensor in given.items():
        key, expected = grad_key(name), same(tensor)
        if why_incomparable(rank, key, expected) or first_wrong(rank, key, expected) >= 0:
            return name
    return ""


def one_message(example: Averaging, outcome: Outcome) -> Mismatch | None:
    """Right averages by one collective a dtype, of as many bytes as its gradients have."""
    mismatch = averaged(example, outcome)
    if mismatch is not None:
        return mismatch
    by_dtype: collections.Counter[str] = collections.Counter()
    for parameter in example.model.parameters():
        if parameter.requires_grad:
            by_dtype[str(parameter.dtype)] += parameter.numel() * parameter.element_size()
    expected = sorted(by_dtype.values())
    for number in example.ranks:
        sent = sorted(op.nbytes for op in outcome.ranks[number].operations if op.kind != "barrier")
        if sent != expected:
            return _other_messages(example, outcome, number, expected)
    return None


def _other_messages(example: Averaging, outcome: Outcome, number: int, expected: list[int]) -> Mismatch:
    rows = []
    for rank in (outcome.ranks[r] for r in example.ranks):
        sent = [op.nbytes for op in rank.operations if op.kind != "barrier"]
        rows.append(
            RankView(rank=rank.rank, got=_messages(sent), expected=_messages(expected), wrong=sorted(sent) != expected)
        )
    sent = [op.nbytes for op in outcome.ranks[number].operations if op.kind != "barrier"]
    headline = (
        f"right averages, but rank {number} takes part in {len(sent)} messages of {int(np.sum(sent))} bytes; "
        f"{_messages(expected)} will do"
    )
    return Mismatch(headline=headline, ranks=tuple(rows), hints=("one flat tensor for each dtype, and its bytes once",))


def _messages(sizes: list[int]) -> str:
    if not sizes:
        return "no message"
    plural = "message" if len(sizes) == 1 else "messages"
    return f"{len(sizes)} {plural} of {', '.join(map(str, sizes))} bytes"
