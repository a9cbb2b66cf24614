"""Judges of DistributedDataParallel's messages: what buckets hold, and when they are sent."""

from __future__ import annotations

import collections
from collections.abc import Sequence

from autograder.checks.finding import Mismatch, RankView
from autograder.checks.replies import Unreadable
from autograder.checks.show import show_dtype
from autograder.cluster.outcome import Outcome, RankOutcome
from autograder.problems.data_parallel.examples_training import MB, Training, all_reduce_seconds
from autograder.problems.data_parallel.judge_training import of_steps, trained
from autograder.protocol.operation import Operation
from autograder.simulator.topology import Link

ALLOWED = 1.1  # of the bound on a step's time
LATE = 0.1  # of a layer's backward, between the last gradient of a bucket and its launch
WITHIN = 0.01  # of what a step takes at least
SLACK_BYTES = 8  # a parameter: for a message that tells other ranks which parameters were used


def bucketed(example: Training, outcome: Outcome) -> Mismatch | None:
    """Right gradients in buckets within the cap, about as few as the cap allows, whose bytes are sent once."""
    mismatch = trained(example, outcome)
    if mismatch is not None:
        return mismatch
    for number in example.ranks:
        rank = outcome.ranks[number]
        for step, (start, _, _, stop) in enumerate(of_steps(example, rank).begun):
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
        reply = of_steps(example, rank)
        for step in range(1, len(example.rows)):
            seconds, (_, start, end, stop) = reply.seconds[step], reply.begun[step]
            operations = rank.operations[start:stop]
            small = [op.nbytes for op in operations if op.nbytes <= SLACK_BYTES * layers]
            bound = last + sum(all_reduce_seconds(nbytes, example.size, link) for nbytes in small[:1])
            buckets = [op for op in operations if op.nbytes > SLACK_BYTES * layers]
            mismatch = _contradicts_the_switch(example, rank, seconds, buckets) or _late(example, rank, step, buckets)
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


def _contradicts_the_switch(
    example: Training, rank: RankOutcome, seconds: float, buckets: Sequence[Operation]
) -> Mismatch | None:
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


def _late(example: Training, rank: RankOutcome, step: int, buckets: Sequence[Operation]) -> Mismatch | None:
    """Each bucket is launched when its gradients are ready, a layer's backward after the bucket before.

    Where the network is slower than backward, a total time would not tell.
    """
    starts = sorted(op.start for op in buckets)
    for number, start in enumerate(starts):
        late = start - (starts[0] + number * example.compute)
        if late > LATE * example.compute:
            return Mismatch(
                headline=f"rank {rank.rank} launches bucket {number + 1} of {len(starts)} {late * 1e6:.0f} us "
                f"after its gradients are ready, in step {step + 1}",
                ranks=(
                    RankView(
                        rank=rank.rank,
                        got=f"launched {' '.join(f'{(s - starts[0]) * 1e6:.0f}' for s in starts)} us after the first",
                        expected=" ".join(f"{k * example.compute * 1e6:.0f}" for k in range(len(starts))),
                        wrong=True,
                    ),
                ),
                hints=("backward must not stand still: whoever waits for a bucket before the next one holds both up",),
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
    return [(show_dtype(p.dtype), p.numel() * p.element_size()) for p in example.model.parameters() if p.requires_grad]


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
