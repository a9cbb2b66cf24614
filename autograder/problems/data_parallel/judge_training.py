"""Judges of DistributedDataParallel: what it returns, and the replicas that it has trained."""

from __future__ import annotations

import collections

import torch

from autograder.checks.compare import first_wrong, side_by_side, why_incomparable
from autograder.checks.expected import same
from autograder.checks.finding import Mismatch, RankView
from autograder.checks.replies import Unreadable, read
from autograder.checks.traffic import operation_of_torchs_own, unexplained_values
from autograder.cluster.outcome import Outcome, RankOutcome
from autograder.diagnosis.collective_order import disagreement
from autograder.problems.common.rank_side.training import MARKED
from autograder.problems.data_parallel.examples_training import Forward, Training
from autograder.problems.data_parallel.expected import Gradient, Step, forward, near, train
from autograder.problems.data_parallel.judge import gradient_bytes, replaced, state_bytes, state_of
from autograder.problems.data_parallel.judge_gradients import wrong_gradient
from autograder.problems.data_parallel.messages import (
    TrainedReply,
    WrappedReply,
    marked_key,
    output_key,
    parameter_key,
    start_key,
    synchronized_among,
    synchronized_key,
)


def forwarded(example: Forward, outcome: Outcome) -> Mismatch | None:
    """The wrapper returns what the module does, however its arguments are passed, and calls it so that hooks run."""
    skipped = list(example.skipped)
    calls = {f"ddp(x, {skipped})": skipped, f"ddp(x, skipped={skipped})": skipped, "ddp(x)": []}
    for member, number in enumerate(example.ranks):
        rank = outcome.ranks[number]
        reply = read(rank, WrappedReply)
        for i, (call, without) in enumerate(calls.items()):
            expected, key = near(example, forward(example, member, without)), output_key(i)
            fault = why_incomparable(rank, key, expected)
            if fault:
                return Mismatch(headline=f"what {call} returns on rank {number} {fault}")
            around = first_wrong(rank, key, expected)
            if around >= 0:
                got, wanted = side_by_side(rank, key, expected, around)
                return Mismatch(
                    headline=f"{call} returns something else than module({call[4:]} on rank {number}",
                    ranks=(RankView(rank=number, got=got, expected=wanted, wrong=True),),
                    hints=("every positional and keyword argument goes to the module",) if i else (),
                )
            if reply.hooks[i] != 1:
                return Mismatch(
                    headline=f"the module's forward hook ran {reply.hooks[i]} times in one {call}",
                    hints=("call module(...): module.forward(...) leaves out the hooks that its user put on it",),
                )
        if not reply.module:
            return Mismatch(headline=f"ddp.module is not the wrapped module on rank {number}")
    return None


def trained(example: Training, outcome: Outcome) -> Mismatch | None:
    """All replicas start from the first rank's state, and after every step are what one process would have."""
    mismatch = (
        state_of(example, outcome, 0, start_key, "DistributedDataParallel(module)")
        or replaced(example, outcome)
        or _foreign(example, outcome)
    )
    before: Step | None = None
    needed = collections.Counter(state_bytes(example, 0))
    for number, step in enumerate(train(example)):
        mismatch = mismatch or _gradients(example, outcome, number, step, before)
        mismatch = mismatch or _parameters(example, outcome, number, step)
        needed.update(gradient_bytes(example, step.local))
        before = step
    return mismatch or _own_buffers(example, outcome) or unexplained_values(outcome, needed)


def _own_buffers(example: Training, outcome: Outcome) -> Mismatch | None:
    """The marks that ranks have made in buffers after the first broadcast are still there."""
    marked = [tensor for name, tensor in example.model.named_buffers() if name.endswith(MARKED)]
    for rank in (outcome.ranks[number] for number in example.ranks):
        for number, tensor in enumerate(marked):
            expected, key = same(torch.full_like(tensor, rank.rank)), marked_key(number)
            fault = why_incomparable(rank, key, expected)
            if fault or first_wrong(rank, key, expected) >= 0:
                return Mismatch(
                    headline=f"rank {rank.rank}'s own value in a buffer is lost after the steps",
                    hints=("buffers are broadcast once, at construction, and are each rank's own from then on",),
                )
    return None


def _gradients(example: Training, outcome: Outcome, number: int, step: Step, before: Step | None) -> Mismatch | None:
    named = example.model.named_parameters()
    names = [name for name, parameter in named if parameter.requires_grad]
    for name in names:
        others = [(f"this is step {number}'s average", before.mean[name])] if before and name in before.mean else []
        others += [
            (f"this is the average of {other}: the ranks' buckets do not match", step.mean[other])
            for other in names
            if other != name and other in step.mean
        ]
        gradient = Gradient(
            name=name,
            key=synchronized_key(number, name),
            when=f" in step {number + 1}",
            own=tuple(own.get(name) for own in step.local),
            expected=near(example, step.mean[name]) if name in step.mean else None,
            last=tuple(own.get(name) for own in step.last) if len(example.rows[number]) > 1 else (),
            others=tuple(others),
        )
        mismatch = wrong_gradient(example, gradient, outcome)
        if mismatch is not None:
            return mismatch
    for rank in (outcome.ranks[r] for r in example.ranks):
        for name in synchronized_among(rank.reply.tensors if rank.reply else (), number):
            if name not in names:
                return Mismatch(headline=f"the frozen parameter {name} has been given a gradient on rank {rank.rank}")
    return None


def _parameters(example: Training, outcome: Outcome, number: int, step: Step) -> Mismatch | None:
    for name, tensor in step.parameters.items():
        key, expected = parameter_key(number, name), near(example, tensor)
        for rank in (outcome.ranks[r] for r in example.ranks):
            fault = why_incomparable(rank, key, expected)
            around = -1 if fault else first_wrong(rank, key, expected)
            if fault or around >= 0:
                got, wanted = side_by_side(rank, key, expected, max(around, 0))
                return Mismatch(
                    headline=f"rank {rank.rank}'s parameter {name} {fault or 'is wrong'} after step {number + 1}, "
                    "though its gradients are right",
                    ranks=(RankView(rank=rank.rank, got=got, expected=wanted, wrong=True),),
                    hints=("nothing but the optimizer changes parameters after the first broadcast",),
                )
    return None


def of_steps(example: Training, rank: RankOutcome) -> TrainedReply:
    """What the rank said of its steps, in which all operations but the first few have begun, one after another."""
    steps = len(example.rows)
    reply = read(rank, TrainedReply, begun=steps, seconds=steps)
    moments = [moment for of_step in reply.begun for moment in of_step]
    between = zip(reply.begun, reply.begun[1:], strict=False)
    if moments != sorted(moments) or moments[0] < 0 or moments[-1] != len(rank.operations):
        raise Unreadable(rank)
    if any(before[-1] != after[0] for before, after in between):
        raise Unreadable(rank)
    return reply


def _foreign(example: Training, outcome: Outcome) -> Mismatch | None:
    """Every message was sent by a line of the submission's own."""
    for number in example.ranks:
        op = operation_of_torchs_own(outcome.ranks[number])
        if op is not None:
            return Mismatch(
                headline=f"an {op.kind} on rank {number} was called by no line of yours: averaging is your part, "
                "torch's own reducer is not allowed in this problem"
            )
    return None


def accumulated(example: Training, outcome: Outcome) -> Mismatch | None:
    """Nothing is sent inside no_sync, the sum of all micro-batches is averaged, and no_sync ends where it ends."""
    begun = {number: of_steps(example, outcome.ranks[number]).begun for number in example.ranks}
    for number, steps in begun.items():
        for step, (start, last, _, _) in enumerate(steps):
            if last > start:
                op = outcome.ranks[number].operations[start]
                nested = ("a no_sync() that ends inside of another one leaves that one in force",) * example.nested
                return Mismatch(
                    headline=f"rank {number} called {op.api or op.kind} inside no_sync() in step {step + 1}",
                    where=(f"{op.file}:{op.line}",),
                    hints=("only the last micro-batch, outside of no_sync(), sends", *nested),
                )
    mismatch = trained(example, outcome)
    if mismatch is not None:
        return mismatch
    for member, number in enumerate(example.ranks):
        complete = [
            (step, end - last)
            for step, (_, last, end, _) in enumerate(begun[number])
            if not example.skipped(step, len(example.rows[step]) - 1, member)
        ]
        launched = [step for step, launches in complete if launches]
        idle = [step for step, launches in complete if not launches]
        if launched and idle:
            return Mismatch(
                headline=f"rank {number} launches buckets during backward of step {launched[0] + 1}, but none during "
                f"that of step {idle[0] + 1}, whose last micro-batch is outside of no_sync() as well",
                hints=(
                    "after no_sync() has ended, by an exception too, buckets are launched again as soon as they are "
                    "complete",
                ),
            )
    return None


def agreed(example: Training, outcome: Outcome) -> Mismatch | None:
    """As `trained`; where that fails, ranks whose collectives do not match are told so."""
    mismatch = trained(example, outcome)
    told = disagreement(outcome) if mismatch is not None else ""
    if mismatch is None or not told:
        return mismatch
    return Mismatch(
        headline=mismatch.headline, ranks=mismatch.ranks, where=mismatch.where, hints=(*mismatch.hints, told)
    )
