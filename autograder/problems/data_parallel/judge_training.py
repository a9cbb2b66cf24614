"""Judges of DistributedDataParallel: what it returns, the trained replicas, and the messages that it took."""

from __future__ import annotations

import collections
from collections.abc import Sequence

import torch

from autograder.checks.compare import first_wrong, side_by_side, why_incomparable
from autograder.checks.expected import same
from autograder.checks.finding import Mismatch, RankView
from autograder.checks.replies import Unreadable, read
from autograder.checks.traffic import operation_of_torchs_own, unexplained_values
from autograder.cluster.outcome import Outcome, RankOutcome
from autograder.diagnosis.collective_order import disagreement
from autograder.problems.common.rank_side.training import MARKED
from autograder.problems.data_parallel.examples_training import MB, Forward, Training, all_reduce_seconds
from autograder.problems.data_parallel.expected import Step, forward, near, train
from autograder.problems.data_parallel.judge import gradient_bytes, replaced, state_bytes, state_of
from autograder.problems.data_parallel.judge_gradients import Gradient, wrong_gradient
from autograder.problems.data_parallel.replies import TrainedReply, WrappedReply
from autograder.protocol.operation import Operation
from autograder.simulator.topology import Link

ALLOWED = 1.1  # of the bound on a step's time
WITHIN = 0.01  # of what a step takes at least
SLACK_BYTES = 8  # a parameter: for a message that tells other ranks which parameters were used


def forwarded(example: Forward, outcome: Outcome) -> Mismatch | None:
    """The wrapper returns what the module does, however its arguments are passed, and calls it so that hooks run."""
    skipped = list(example.skipped)
    calls = {f"ddp(x, {skipped})": skipped, f"ddp(x, skipped={skipped})": skipped, "ddp(x)": []}
    for member, number in enumerate(example.ranks):
        rank = outcome.ranks[number]
        words = read(rank, WrappedReply)
        for i, (call, without) in enumerate(calls.items()):
            expected, key = near(example, forward(example, member, without)), f"output/{i}"
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
            if words.hooks[i] != 1:
                return Mismatch(
                    headline=f"the module's forward hook ran {words.hooks[i]} times in one {call}",
                    hints=("call module(...): module.forward(...) leaves out the hooks that its user put on it",),
                )
        if not words.module:
            return Mismatch(headline=f"ddp.module is not the wrapped module on rank {number}")
    return None


def trained(example: Training, outcome: Outcome) -> Mismatch | None:
    """All replicas start from the first rank's state, and after every step are what one process would have."""
    mismatch = (
        state_of(example, outcome, 0, "start", "DistributedDataParallel(module)")
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
    marked = [tensor for name, tensor in example.network.named_buffers() if name.endswith(MARKED)]
    for rank in (outcome.ranks[number] for number in example.ranks):
        for number, tensor in enumerate(marked):
            expected, key = same(torch.full_like(tensor, rank.rank)), f"marked/{number}"
            fault = why_incomparable(rank, key, expected)
            if fault or first_wrong(rank, key, expected) >= 0:
                return Mismatch(
                    headline=f"rank {rank.rank}'s own value in a buffer is lost after the steps",
                    hints=("buffers are broadcast once, at construction, and are each rank's own from then on",),
                )
    return None


def _gradients(example: Training, outcome: Outcome, number: int, step: Step, before: Step | None) -> Mismatch | None:
    named = example.network.named_parameters()
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
            key=f"grad/{number}/{name}",
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
        for key in rank.reply.tensors if rank.reply else ():
            if key.startswith(f"grad/{number}/") and key.removeprefix(f"grad/{number}/") not in names:
                name = key.removeprefix(f"grad/{number}/")
                return Mismatch(headline=f"the frozen parameter {name} has been given a gradient on rank {rank.rank}")
    return None


def _parameters(example: Training, outcome: Outcome, number: int, step: Step) -> Mismatch | None:
    for name, tensor in step.parameters.items():
        key, expected = f"parameter/{number}/{name}", near(example, tensor)
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


def _words(example: Training, rank: RankOutcome) -> TrainedReply:
    """What the rank said of its steps, in which all operations but the first few have begun, one after another."""
    steps = len(example.rows)
    words = read(rank, TrainedReply, begun=steps, seconds=steps)
    moments = [moment for of_step in words.begun for moment in of_step]
    between = zip(words.begun, words.begun[1:], strict=False)
    if moments != sorted(moments) or moments[0] < 0 or moments[-1] != len(rank.operations):
        raise Unreadable(rank)
    if any(before[-1] != after[0] for before, after in between):
        raise Unreadable(rank)
    return words


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
    begun = {number: _words(example, outcome.ranks[number]).begun for number in example.ranks}
    for number, steps in begun.items():
        for step, (start, last, _, _) in enumerate(steps):
            if last > start:
                op = outcome.ranks[number].operations[start]
                return Mismatch(
                    headline=f"rank {number} called {op.api or op.kind} inside no_sync() in step {step + 1}",
                    where=(f"{op.file}:{op.line}",),
                    hints=("only the last micro-batch, outside of no_sync(), sends",),
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
                headline=f"rank {number} launches buckets during backward of step {launched[0] + 1}, but none during that "
                f"of step {idle[0] + 1}, whose last micro-batch is outside of no_sync() as well",
                hints=(
                    "after no_sync() has ended, by an exception too, buckets are launched again as soon as they are complete",
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


def bucketed(example: Training, outcome: Outcome) -> Mismatch | None:
    """Right gradients in buckets within the cap, about as few as the cap allows, whose bytes are sent once."""
    mismatch = trained(example, outcome)
    if mismatch is not None:
        return mismatch
    for number in example.ranks:
        rank = outcome.ranks[number]
        for step, (start, _, _, stop) in enumerate(_words(example, rank).begun):
            fault = _buckets(example, rank.operations[start:stop])
            if fault:
                headline, hint = fault
                return Mismatch(
                    headline=f"{headline} in step {step + 1} on rank {number}",
                    ranks=(_sizes(example, rank, start, stop),),
                    hints=(hint,),
                )
    return None


def overlapped(link: Link, example: Training, outcome: Outcome) -> Mismatch | None:
    """Right gradients, and from the second step on in at most 1.1 of the time that overlapping buckets need.

    The small message that tells which parameters were used is tolerated here as well, once.
    """
    mismatch = bucketed(example, outcome)
    if mismatch is not None:
        return mismatch
    layers, compute = len(example.layers), example.compute
    send = all_reduce_seconds(_parameter_bytes(example)[0][1], example.size, link)
    last = finish_bound([compute * (k + 1) for k in range(layers)], [send] * layers)
    for number in example.ranks:
        rank = outcome.ranks[number]
        words = _words(example, rank)
        for step in range(1, len(example.rows)):
            seconds, (_, start, end, stop) = words.seconds[step], words.begun[step]
            operations = rank.operations[start:stop]
            small = [op.nbytes for op in operations if op.nbytes <= SLACK_BYTES * layers]
            bound = last + sum(all_reduce_seconds(nbytes, example.size, link) for nbytes in small[:1])
            mismatch = _too_fast(example, rank, seconds, [op for op in operations if op.nbytes > SLACK_BYTES * layers])
            if mismatch is not None:
                return mismatch
            if seconds > ALLOWED * bound:
                return Mismatch(
                    headline=f"step {step + 1} takes {seconds * 1e6:.0f} us on rank {number} until "
                    f"finish_gradient_synchronization() returns; the bound is {bound * 1e6:.0f} us",
                    ranks=(
                        RankView(
                            rank=number,
                            got=f"{seconds * 1e6:.0f} us, {end - start} launches during backward",
                            expected=f"<= {ALLOWED * bound * 1e6:.0f} us",
                            wrong=True,
                        ),
                    ),
                    hints=(
                        f"a backward takes {layers} x {compute * 1e6:.0f} us, each of {layers} buckets "
                        f"{send * 1e6:.0f} us on the network: launch them as soon as their gradients are ready, with "
                        "async_op=True, and wait in finish only",
                    ),
                )
    return None


def _too_fast(example: Training, rank: RankOutcome, seconds: float, buckets: Sequence[Operation]) -> Mismatch | None:
    """What the switch has seen of a step: its buckets leave one after another, and it lasts as long as they take."""
    if not buckets:
        raise Unreadable(rank)
    first, last = min(op.start for op in buckets), max(op.start for op in buckets)
    least = max(len(example.layers) * example.compute, max(op.end for op in buckets) - first)
    if seconds < (1 - WITHIN) * least:
        return Mismatch(
            headline=f"rank {rank.rank} tells {seconds * 1e6:.0f} us of a step of {least * 1e6:.0f} us at least"
        )
    if last - first < example.compute:
        return Mismatch(
            headline=f"rank {rank.rank} launches all buckets at about one moment, though their gradients are ready one "
            f"after the other, {example.compute * 1e6:.0f} us apart",
            hints=("launch each bucket as soon as its gradients are ready, while backward goes on",),
        )
    return None


def finish_bound(ready: Sequence[float], send: Sequence[float]) -> float:
    """When the last bucket has arrived: each starts when it is ready and the one before is through."""
    end = 0.0
    for when, takes in zip(ready, send, strict=True):
        end = max(when, end) + takes
    return end


def _sizes(example: Training, rank: RankOutcome, start: int, stop: int) -> RankView:
    sent = [op.nbytes for op in rank.operations[start:stop] if op.kind == "all_reduce"]
    parameters = ", ".join(f"{size} ({dtype})" for dtype, size in _parameter_bytes(example))
    return RankView(
        rank=rank.rank,
        given=f"parameters of {parameters} bytes",
        got=f"messages of {', '.join(map(str, sent)) or 'no'} bytes",
        wrong=True,
    )


def _parameter_bytes(example: Training) -> list[tuple[str, int]]:
    """Dtype and bytes of each trainable parameter, in order."""
    return [
        (str(p.dtype).removeprefix("torch."), p.numel() * p.element_size())
        for p in example.network.parameters()
        if p.requires_grad
    ]


def fewest_buckets(sizes: Sequence[int], cap: float) -> int:
    """As few runs of consecutive parameters as the cap allows; one that is over the cap is alone in its run."""
    count, room = 0, -1.0
    for size in sizes:
        if size > room:
            count, room = count + 1, cap
        room -= size
    return count


def _buckets(example: Training, operations: Sequence[Operation]) -> tuple[str, str] | None:
    """What is wrong with a step's all-reduces, and a hint."""
    parameters, cap = _parameter_bytes(example), example.cap * MB
    by_dtype: dict[str, list[int]] = collections.defaultdict(list)
    for dtype, size in parameters:
        by_dtype[dtype].append(size)
    fewest = sum(fewest_buckets(sizes, cap) for sizes in by_dtype.values())
    total = sum(size for _, size in parameters)
    sent = [op.nbytes for op in operations if op.kind == "all_reduce"]
    more = sum(sent) - total
    if more in sent and more <= SLACK_BYTES * len(parameters):
        sent.remove(more)  # which parameters were used
    over = [size for size in sent if size > cap and size not in [alone for _, alone in parameters]]
    if over:
        return (
            f"a bucket of {over[0]} bytes is over the cap of {cap:.0f} bytes",
            "bucket_size_mb counts MB of 2**20 bytes; a bucket is closed before it would grow over the cap",
        )
    if sum(sent) != total:
        return (
            f"{sum(sent)} bytes are all-reduced for gradients of {total} bytes",
            "each gradient travels once, in its own dtype",
        )
    most = fewest + len(by_dtype)
    if len(sent) > most:
        return (
            f"{len(sent)} messages are sent where {fewest} buckets would hold all gradients (up to {most} are fine)",
            "a bucket takes parameters of its dtype until the next of them would be too much; one of another dtype in "
            "between does not close it",
        )
    return None
