"""What a student is told of a failed example: the call, what each rank was given and got, and how to run it again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from autograder.checks.check import Check
from autograder.checks.example import Example
from autograder.checks.finding import Mismatch, RankView
from autograder.cluster import sandbox
from autograder.cluster.outcome import Outcome
from autograder.diagnosis.collective_order import outside
from autograder.report.model import Failure, Setting


def failure_of(
    setting: Setting, backend: str, check: Check, example: Example, outcome: Outcome, mismatch: Mismatch
) -> Failure:
    """All that is known of it."""
    described = example.describe()
    problem, task, name = check.id.split(".")
    return Failure(
        headline=mismatch.headline,
        call=described.call,
        setting=f"{described.setting}, {'the simulated cluster' if backend == 'sim' else backend}",
        ranks=_rows(described.given, mismatch.ranks),
        where=mismatch.where,
        hints=(*mismatch.hints, *_outside(example, outcome)),
        output=_output(outcome),
        repeat=repeat(setting, f"{task}.{name}"),
        read=f"assignment/{problem}.md, section {task}",
    )


def with_reference(failure: Failure, spent: Mapping[int, str]) -> Failure:
    """The failure, with what the reference spent on the same example, by rank and in words."""
    notes = {rank: f"reference: {words}" for rank, words in spent.items()}
    ranks = tuple(msgspec.structs.replace(row, note=row.note or notes.get(row.rank, "")) for row in failure.ranks)
    return msgspec.structs.replace(failure, ranks=ranks)


def repeat(setting: Setting, check: str) -> str:
    """The command that runs just this check again."""
    words = ["make grade"]
    if setting.submission != "handout":
        words.append(f"SUBMISSION={setting.submission}")
    words.append(f"ONLY={check}")
    if setting.backend != "gloo":
        words.append(f"BACKEND={setting.backend}")
    if setting.budget != "local":
        words.append(f"BUDGET={setting.budget}")
    if setting.seed:
        words.append(f"SEED={setting.seed}")
    isolated = setting.isolation != sandbox.PLAIN
    if isolated != sandbox.by_default(setting.submission):
        words.append(f"ISOLATE={'yes' if isolated else 'no'}")
    return " ".join(words)


def _outside(example: Example, outcome: Outcome) -> tuple[str, ...]:
    """A hint, where the example has groups and a message has left one."""
    told = outside(outcome, example.group_of) if hasattr(example, "group_of") else ""
    return (told,) if told else ()


def _rows(given: Sequence[str], told: Sequence[RankView]) -> tuple[RankView, ...]:
    """A row for each rank: what it was given, and what the judge has to say of it."""
    by_rank = {view.rank: view for view in told}
    rows = [by_rank.get(rank, RankView(rank=rank)) for rank in range(len(given))]
    return tuple(msgspec.structs.replace(row, given=row.given or given[row.rank]) for row in rows)


def _output(outcome: Outcome) -> str:
    """What the ranks printed, each rank's tail under its number."""
    return "\n".join(f"[rank {rank.rank}] {rank.output.rstrip()}" for rank in outcome.ranks if rank.output.strip())
