"""Judges of the order in which stages work, and of the time that it takes: right values first, or nothing is told."""

from __future__ import annotations

from autograder.checks.finding import Mismatch, RankView
from autograder.cluster.outcome import Outcome, RankOutcome
from autograder.problems.pipeline_parallel.examples import Forward, Staged
from autograder.problems.pipeline_parallel.examples_training import Train
from autograder.problems.pipeline_parallel.hints import one_after_another
from autograder.problems.pipeline_parallel.judge import gradients, outputs, stepped
from autograder.problems.pipeline_parallel.stages import counted, members
from autograder.protocol.operation import Operation


def in_flight(example: Train, outcome: Outcome) -> Mismatch | None:
    """Right values, and no more micro-batches in flight than the schedule has; gpipe runs all forwards first."""
    mismatch = gradients(example, outcome)
    if mismatch is not None:
        return mismatch
    ranks = members(example, outcome)
    orders = [stepped(example, rank).events[0] for rank in ranks]
    judged = _all_forwards_first if example.schedule == "gpipe" else _few_in_flight
    return judged(example, ranks, orders)


def _all_forwards_first(example: Train, ranks: list[RankOutcome], orders: list[list[str]]) -> Mismatch | None:
    early = [order.index("backward") < example.num_micro_batches if "backward" in order else False for order in orders]
    if not any(early):
        return None
    rank = ranks[early.index(True)].rank
    expected = f"{example.num_micro_batches} forwards before the first backward"
    rows = [
        RankView(rank=r.rank, got=_show_order(order), expected=expected, wrong=wrong)
        for r, order, wrong in zip(ranks, orders, early, strict=True)
    ]
    return Mismatch(headline=f"under gpipe rank {rank} runs a backward before its last forward", ranks=tuple(rows))


def _few_in_flight(example: Train, ranks: list[RankOutcome], orders: list[list[str]]) -> Mismatch | None:
    peaks = [max(_peak(order), _seen(example, stage, ranks)) for stage, order in enumerate(orders)]
    limits = [example.stages - stage for stage in range(example.stages)]
    over = [peak > limit for peak, limit in zip(peaks, limits, strict=True)]
    if not any(over):
        return None
    stage = over.index(True)
    rows = [
        RankView(
            rank=rank.rank,
            got=f"{_show_order(order)}: {peak} in flight",
            expected=f"at most {limit}",
            wrong=peak > limit,
        )
        for rank, order, peak, limit in zip(ranks, orders, peaks, limits, strict=True)
    ]
    headline = (
        f"under 1f1b {counted(peaks[stage], 'micro-batch')} are in flight on rank {ranks[stage].rank}, "
        f"stage {stage} of {example.stages}: {limits[stage]} at most may be"
    )
    hint = "in flight is what has gone forward and not yet back; F is a forward, B a backward"
    return Mismatch(headline=headline, ranks=tuple(rows), hints=(hint,))


def _peak(order: list[str]) -> int:
    """The most micro-batches at any moment that have gone forward and not yet back."""
    now = peak = 0
    for kind in order:
        now += 1 if kind == "forward" else -1
        peak = max(peak, now)
    return peak


def _seen(example: Train, stage: int, ranks: list[RankOutcome]) -> int:
    """In flight by the record of messages, at the least: sent to the next stage, and nothing come back for it yet."""
    if stage == example.stages - 1:
        return 0
    sends, back = (_messages(kind, ranks[stage], ranks[stage + 1]) for kind in ("send", "recv"))
    more = len(sends) - example.num_micro_batches * len(example.batch_sizes)  # messages about something else
    peaks = [number - sum(0 <= op.end <= send.start for op in back) for number, send in enumerate(sends, 1)]
    return max(peaks, default=0) - more


def _messages(kind: str, rank: RankOutcome, peer: RankOutcome) -> list[Operation]:
    """The rank's sends to another one, or its receives from there, in the order of their starts."""
    found = [op for op in rank.operations if op.kind == kind and op.peer == peer.rank]
    return sorted(found, key=lambda op: op.start)


def _too_early(example: Staged, count: int, ranks: list[RankOutcome]) -> Mismatch | None:
    """Work that no stage can have done by then: the nth message to the next stage, or the one before, leaves too soon.

    Messages about something else may be among them; the last `count` cannot leave sooner than those that there must be.
    """
    forward, backward = example.cost.forward, example.cost.backward
    for stage, rank in enumerate(ranks):
        ahead = [(stage + number) * forward for number in range(1, count + 1)]
        way_back = example.stages * forward + (example.stages - stage) * backward
        behind = [way_back + number * backward for number in range(count)]
        for peer, bounds in ((stage + 1, ahead), (stage - 1, behind)):
            sends = _messages("send", rank, ranks[peer])[-count:] if 0 <= peer < len(ranks) else []
            for number, (send, bound) in enumerate(zip(sends, bounds, strict=False)):
                if send.start < 0.99 * bound:
                    return Mismatch(
                        headline=f"rank {rank.rank} sends the result of micro-batch {number} to rank "
                        f"{ranks[peer].rank} after {send.start:.4g} s; the stages on its way need {bound:.4g} s",
                        hints=("a stage takes the time of its layers: call it, and let it run",),
                    )
    return None


def _show_order(order: list[str]) -> str:
    """F F B B; the letters are those of the chapter's pictures."""
    return " ".join("F" if kind == "forward" else "B" for kind in order)


def overlap(example: Forward, outcome: Outcome) -> Mismatch | None:
    """Right outputs, in the time that stages need which are at work together."""
    mismatch = outputs(example, outcome)
    if mismatch is not None:
        return mismatch
    count, forward = len(example.rows), example.cost.forward
    seconds = _seconds(example, outcome)
    least = (count + example.stages - 1) * forward
    if abs(max(seconds) - least) <= 0.01 * least:
        return _too_early(example, count, members(example, outcome))
    return Mismatch(
        headline=f"right outputs, too late: they took {max(seconds):.4g} s, and (M + p - 1) f = {least:g} s is due",
        ranks=_time_rows(example, seconds, count * forward),
        hints=(
            *one_after_another(example, max(seconds), count * forward),
            "while a stage is at work, the next micro-batch can be at the stage before",
        ),
    )


def bubble(example: Train, outcome: Outcome) -> Mismatch | None:
    """Right values, and no more idle time than the schedule has."""
    mismatch = gradients(example, outcome)
    if mismatch is not None:
        return mismatch
    count, stages = example.num_micro_batches, example.stages
    seconds = _seconds(example, outcome)
    busy = count * (example.cost.forward + example.cost.backward)
    share, due = 1 - busy / max(*seconds, 1e-9), (stages - 1) / (count + stages - 1)
    if abs(share - due) <= 0.01:
        return _too_early(example, count, members(example, outcome))
    return Mismatch(
        headline=f"the bubble is {share:.3f} of the time, where (p - 1) / (M + p - 1) = {due:.3f} is due",
        ranks=_time_rows(
            example, seconds, busy, [stepped(example, rank).events[0] for rank in members(example, outcome)]
        ),
        hints=one_after_another(example, max(seconds), busy),
    )


def _seconds(example: Staged, outcome: Outcome) -> list[float]:
    """When each stage was through, in virtual time."""
    assert outcome.seconds is not None  # the simulated cluster, on which alone time is judged, always tells them
    return [outcome.seconds[rank] for rank in example.ranks]


def _time_rows(
    example: Staged, seconds: list[float], busy: float, orders: list[list[str]] | None = None
) -> tuple[RankView, ...]:
    return tuple(
        RankView(
            rank=rank,
            got=f"busy {busy:g} of {taken:.4g} s" + (f": {_show_order(orders[stage])}" if orders else ""),
        )
        for stage, (rank, taken) in enumerate(zip(example.ranks, seconds, strict=True))
    )
