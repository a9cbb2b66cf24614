"""Judges of problem 5: outputs, losses and gradients against the unsplit network."""

from __future__ import annotations

from autograder.checks.compare import first_wrong, side_by_side, why_incomparable
from autograder.checks.expected import same
from autograder.checks.finding import Mismatch, RankView
from autograder.checks.replies import read
from autograder.checks.traffic import unexplained_values
from autograder.cluster.outcome import Outcome, RankOutcome
from autograder.problems.pipeline_parallel.examples import Forward, Staged
from autograder.problems.pipeline_parallel.examples_training import Refusal, Train
from autograder.problems.pipeline_parallel.hints import hints_for, other_micro_batches, where_it_was_right
from autograder.problems.pipeline_parallel.messages import (
    ForwardedReply,
    LossReply,
    RefusedReply,
    SteppedReply,
    grad_key,
    input_key,
    loss_key,
    output_key,
    outputs_among,
)
from autograder.problems.pipeline_parallel.stages import (
    activation_bytes,
    counted,
    expected_outputs,
    expected_step,
    is_right,
    members,
    wrong_calls,
)

# pipeline_forward


def outputs(example: Forward, outcome: Outcome) -> Mismatch | None:
    """The last stage returns the unsplit network's outputs, the others None; a stage is called once a micro-batch."""
    ranks = members(example, outcome)
    replies = [read(rank, ForwardedReply, events=1) for rank in ranks]
    for rank, reply in zip(ranks[:-1], replies, strict=False):
        if reply.type != "NoneType":
            return Mismatch(headline=f"rank {rank.rank} returned a {reply.type}: every stage but the last returns None")
    if replies[-1].type not in ("list", "tuple"):
        headline = f"rank {ranks[-1].rank}, the last stage, returned a {replies[-1].type}, not a list of outputs"
        return Mismatch(headline=headline)
    return (
        _wrong_outputs(example, ranks[-1])
        or _changed_inputs(example, ranks[0])
        or wrong_calls(ranks, [reply.events for reply in replies], len(example.rows))
        or unexplained_values(outcome, activation_bytes(example, sum(example.rows)))
    )


def _wrong_outputs(example: Forward, last: RankOutcome) -> Mismatch | None:
    expected = expected_outputs(example)
    count = outputs_among(last.reply.tensors if last.reply else ())
    if count != len(expected):
        return Mismatch(
            headline=f"rank {last.rank} returned {counted(count, 'output')} for {len(expected)} micro-batches"
        )
    for i, wanted in enumerate(expected):
        name = output_key(i)
        fault = why_incomparable(last, name, wanted)
        if fault:
            return Mismatch(headline=f"rank {last.rank}'s output of micro-batch {i} {fault}")
        around = first_wrong(last, name, wanted)
        if around >= 0:
            got, shown = side_by_side(last, name, wanted, around)
            row = RankView(rank=last.rank, got=got, expected=shown, wrong=True)
            return Mismatch(
                headline=f"rank {last.rank}'s output of micro-batch {i} is wrong",
                ranks=(row,),
                hints=tuple(other_micro_batches(example, last, i)),
            )
    return None


def _changed_inputs(example: Forward, first: RankOutcome) -> Mismatch | None:
    for i, rows in enumerate(example.rows):
        before = same(example.inputs(i, rows))
        if not is_right(first, input_key(i), before):
            return Mismatch(
                headline=f"rank {first.rank}'s micro-batch {i} was changed: the inputs have to stay as they are"
            )
    return None


# Pipeline


def gradients(example: Train, outcome: Outcome) -> Mismatch | None:
    """After every step, loss and gradients are those of the unsplit network on the whole batch."""
    ranks = members(example, outcome)
    replies = [stepped(example, rank) for rank in ranks]
    for step in range(len(example.batch_sizes)):
        losses = [reply.losses[step] for reply in replies]
        mismatch = _wrong_loss(example, ranks, losses, step) or _wrong_gradient(example, ranks, step)
        if mismatch is not None:
            return mismatch
    return wrong_calls(ranks, [reply.events for reply in replies], example.num_micro_batches) or unexplained_values(
        outcome, activation_bytes(example, sum(example.batch_sizes))
    )


def stepped(example: Train, rank: RankOutcome) -> SteppedReply:
    """What the rank said of the example's steps."""
    steps = len(example.batch_sizes)
    return read(rank, SteppedReply, losses=steps, events=steps)


def _wrong_loss(example: Train, ranks: list[RankOutcome], losses: list[LossReply], step: int) -> Mismatch | None:
    last, key, again = ranks[-1], loss_key(step), _after(example, step)
    for rank, loss in zip(ranks[:-1], losses, strict=False):
        if loss.type != "NoneType":
            return Mismatch(
                headline=f"step returned a {loss.type} on rank {rank.rank}: every stage but the last returns None"
            )
    wanted = expected_step(example, step)[0]
    if losses[-1].type == "NoneType":
        return Mismatch(headline=f"step returned None on rank {last.rank}: the last stage returns the loss")
    fault = why_incomparable(last, key, wanted)
    if fault:
        return Mismatch(headline=f"the loss on rank {last.rank}{again} {fault}")
    if first_wrong(last, key, wanted) >= 0:
        got, expected = side_by_side(last, key, wanted, 0)
        row = RankView(rank=last.rank, got=f"loss {got}", expected=f"loss {expected}", wrong=True)
        hints = hints_for(example, step, last.tensors[key], None)
        return Mismatch(headline=f"the loss on rank {last.rank} is wrong{again}", ranks=(row,), hints=hints)
    if losses[-1].requires_grad:
        return Mismatch(
            headline=f"the loss that rank {last.rank} returns still requires a gradient",
            hints=("it keeps every activation of the step alive for as long as somebody keeps the loss",),
        )
    return None


def _wrong_gradient(example: Train, ranks: list[RankOutcome], step: int) -> Mismatch | None:
    """The first wrong gradient on the way back: stages from the last to the first, as errors travel."""
    expected = expected_step(example, step)[1]
    for stage in reversed(range(example.stages)):
        rank = ranks[stage]
        for name in reversed(example.owned(stage, expected)):
            key, title = grad_key(step, name), _title(example, name)
            if not _came_back(rank, key):
                return Mismatch(
                    headline=f"rank {rank.rank}'s {title} has no gradient{_after(example, step)}: its .grad is None",
                    ranks=_gradient_rows(example, ranks, step),
                )
            fault = why_incomparable(rank, key, expected[name])
            if fault:
                return Mismatch(headline=f"the gradient of rank {rank.rank}'s {title} {fault}{_after(example, step)}")
            if first_wrong(rank, key, expected[name]) >= 0:
                return Mismatch(
                    headline=f"the gradient of rank {rank.rank}'s {title} is wrong{_after(example, step)}",
                    ranks=_gradient_rows(example, ranks, step),
                    hints=hints_for(example, step, rank.tensors[key], name)
                    or where_it_was_right(example, ranks, stage),
                )
    return None


def _came_back(rank: RankOutcome, key: str) -> bool:
    """Whether the rank handed back anything by that name."""
    return rank.reply is not None and key in rank.reply.tensors


def _title(example: Staged, name: str) -> str:
    """weight of layer 2, linear(3, 4)"""
    number, _, what = name.partition(".")
    return f"{what} (layer {number}, {example.model.layers[int(number)]})"


def _gradient_rows(example: Train, ranks: list[RankOutcome], step: int) -> tuple[RankView, ...]:
    """For each stage its first wrong gradient on the way back, or the first of all."""
    expected, rows = expected_step(example, step)[1], []
    for stage, rank in enumerate(ranks):
        names = list(reversed(example.owned(stage, expected)))
        if not names:
            continue
        wrong = [name for name in names if not is_right(rank, grad_key(step, name), expected[name])]
        name = (wrong or names)[0]
        key = grad_key(step, name)
        fits = not why_incomparable(rank, key, expected[name])
        around = first_wrong(rank, key, expected[name]) if fits else 0
        got, wanted = side_by_side(rank, key, expected[name], max(0, around))
        rows.append(
            RankView(
                rank=rank.rank,
                got=f"{name}.grad {got if _came_back(rank, key) else 'None'}",
                expected=wanted,
                wrong=bool(wrong),
            )
        )
    return tuple(rows)


def _after(example: Train, step: int) -> str:
    return f" after step {step + 1}" if len(example.batch_sizes) > 1 else ""


# Errors


def errors(example: Refusal, outcome: Outcome) -> Mismatch | None:
    """Every rank raises ValueError."""
    ranks = members(example, outcome)
    texts = [read(rank, RefusedReply).raised for rank in ranks]
    quiet = [rank.rank for rank, text in zip(ranks, texts, strict=True) if text is None]
    if not quiet:
        return None
    rows = tuple(
        RankView(
            rank=rank.rank,
            got="returned" if text is None else f"ValueError: {text}",
            expected="ValueError",
            wrong=text is None,
        )
        for rank, text in zip(ranks, texts, strict=True)
    )
    return Mismatch(headline=f"rank {quiet[0]} raised no ValueError", ranks=rows)
