"""Forged replies: whatever a rank says, its check ends in a judgement, never in a fault of the kit.

The reference runs a few examples; of the last one's replies one thing after another is replaced by something strange,
and the examiner is told that this is what came back.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
import torch

from autograder.checks.check import Check
from autograder.checks.finding import Status
from autograder.cluster.cluster import Cluster
from autograder.cluster.outcome import Outcome, RankOutcome
from autograder.grading.assignment import Assignment, Budget, load
from autograder.grading.examiner import Examiner
from autograder.grading.reference import Reference
from autograder.grading.registry import checks_of
from autograder.grading.runner import Runner
from autograder.grading.session import REFERENCE
from autograder.protocol.operation import Operation
from autograder.protocol.reply import NOTHING, Reply, TensorFacts
from autograder.report.model import Setting

EXAMPLES = 2  # the first that are drawn are the simplest; the last one is forged
BUDGET = Budget(examples=EXAMPLES, real_every=1, reference="failure", shrink=0)
STRANGE_WORDS = (None, -1, 2**70, 10**400, 1e308, "\x1b[31mnan", [], {"a": {"b": 1}})
UNREADABLE = (b"1e999", b"[" * 20_000 + b"]" * 20_000)  # JSON that nothing can be made of
STRANGE_TENSORS = (
    torch.tensor(float("nan")),
    torch.full((7, 5, 3), 2**62),
    torch.ones(2, dtype=torch.complex64),
    torch.ones(3, dtype=torch.float8_e4m3fn),
    torch.ones([1] * 2500),
)
FACTS = TensorFacts("torch.Tensor", "cpu")
Forgery = Callable[[RankOutcome], RankOutcome]


class ForgedCluster:
    """Ranks of the reference whose replies are forged on their way, if `forgery` is set.

    What the ranks really say is remembered: the same examples come again and again.
    """

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._said: dict[tuple[str, int, int], Outcome] = {}
        self.forgery: Forgery | None = None
        self.calls = 0  # that a check makes

    def begin(self, check: Check, world_size: int) -> None:
        """The next call is the first of this check."""
        self._key, self.count = (check.id, world_size), 0

    def group(self, folder: Path, backend: str, world_size: int) -> ForgedCluster:
        self._group = self._cluster.group(folder, backend, world_size)
        return self

    def call(self, *asked: Any) -> Outcome:
        key = (*self._key, self.count)
        self.count += 1
        if key not in self._said:
            self._said[key] = self._group.call(*asked)
        outcome = self._said[key]
        if self.forgery is None or self.count < self.calls:
            return outcome
        return msgspec.structs.replace(outcome, ranks=tuple(map(self.forgery, outcome.ranks)))

    @property
    def last(self) -> Outcome:
        """What the ranks said last."""
        return self._said[*self._key, self.calls - 1]


def forgeries(rank: RankOutcome) -> Iterator[tuple[str, Forgery]]:
    """Ways to lie for this rank, each with its name."""
    assert rank.reply is not None
    lies = ((where, json.dumps(lie).encode()) for where, lie in _lies(msgspec.json.decode(rank.reply.value)))
    for where, lie in (*lies, *((f"{word!r:.20}", word) for word in UNREADABLE)):
        yield f"says {where}", lambda r, lie=lie: _replied(r, value=msgspec.Raw(lie))
    for name in [*rank.tensors][:1] + [*rank.tensors][1:][-1:]:
        others = {other: tensor for other, tensor in rank.tensors.items() if other != name}
        yield f"no {name}", lambda r, others=others: msgspec.structs.replace(r, tensors=others)
        yield f"silent about {name}", lambda r, name=name: _replied(r, tensors=_without(r.reply.tensors, name))
        for strange in STRANGE_TENSORS:
            yield f"{name} as {_look(strange)}", lambda r, name=name, strange=strange: _with(r, name, strange)
    for name in ("shard/9", "output/9", "grad/0/stranger", "loss/x", "0/weight"):
        yield f"{name} invented", lambda r, name=name: _with(r, name, torch.ones(2))
    yield "nothing done", lambda r: _replied(r, operations=())
    strange = Operation("\x1b", "", 99, -1, 2**40, (99, -7), 5.0, -1.0, "", -3)
    yield "strange things done", lambda r: _replied(r, operations=(strange, *r.reply.operations, strange))
    yield "things undone", lambda r: _replied(r, operations=r.reply.operations[:1])


def conspiracies(first: RankOutcome) -> Iterator[tuple[str, Forgery]]:
    """Ways to lie for all ranks at once: this one hands back a wrong tensor, and the others none that is comparable."""
    for name in [*first.tensors][:2] + [*first.tensors][2:][-1:]:
        for strange in STRANGE_TENSORS:

            def forge(r: RankOutcome, name: str = name, strange: torch.Tensor = strange) -> RankOutcome:
                if r.reply is None:
                    return r
                return _with(r, name, _wrong(r.tensors[name]) if r.rank == first.rank else strange)

            yield f"{name} wrong, elsewhere {_look(strange)}", forge


def _wrong(tensor: torch.Tensor) -> torch.Tensor:
    """Of the same shape and dtype, and resembling nothing."""
    return torch.full_like(tensor, 99) if tensor.dtype != torch.bool else ~tensor


def _look(tensor: torch.Tensor) -> str:
    return f"{tensor.dtype} of shape {tuple(tensor.shape)!s:.20}"


def _lies(value: Any) -> Iterator[tuple[str, Any]]:
    """The JSON value with one thing in it replaced, left out or doubled."""
    for strange in STRANGE_WORDS:
        yield f"{strange!r:.20}", strange
    if isinstance(value, dict):
        for name, inner in value.items():
            yield f"no {name}", {other: kept for other, kept in value.items() if other != name}
            for where, lie in _lies(inner):
                yield f"{name}: {where}", {**value, name: lie}
    elif isinstance(value, list) and value:
        yield "less", value[:-1]
        yield "more", [*value, value[-1]]
        for at in {0, len(value) - 1}:
            for where, lie in _lies(value[at]):
                yield f"{at}: {where}", [*value[:at], lie, *value[at + 1 :]]


def _replied(rank: RankOutcome, **changes: Any) -> RankOutcome:
    return msgspec.structs.replace(rank, reply=msgspec.structs.replace(rank.reply, **changes))


def _with(rank: RankOutcome, name: str, tensor: torch.Tensor) -> RankOutcome:
    told = _replied(rank, tensors={**rank.reply.tensors, name: FACTS})
    return msgspec.structs.replace(told, tensors={**rank.tensors, name: tensor})


def _without(facts: dict[str, TensorFacts], name: str) -> dict[str, TensorFacts]:
    return {other: kept for other, kept in facts.items() if other != name}


def _parameters() -> list[Any]:
    """Every check; those whose judge has been seen already are for a thorough run."""
    judges, parameters = set(), []
    for problem in load().problems:
        for check in checks_of(problem.name):
            marks = [pytest.mark.thorough] if check.judge in judges else []
            judges.add(check.judge)
            parameters.append(pytest.param(check, id=check.id, marks=marks))
    return parameters


@pytest.mark.parametrize("check", _parameters())
def test_no_reply_makes_the_kit_fail(check: Check, cluster: Cluster) -> None:
    plan = next(plan for plan in load().plan() if plan.id == check.id)
    world_size = min(plan.world_sizes, key=lambda size: abs(size - 3))
    planned = _planned_alone(check.id, world_size)
    forged = ForgedCluster(cluster)

    def examined() -> Any:
        forged.begin(check, world_size)
        setting = Setting(submission="solutions", budget="few")
        return Examiner(planned, setting, Runner(planned, forged, REFERENCE), None).examine(check)  # type: ignore[arg-type]

    assert examined().status is Status.PASSED
    forged.calls = forged.count
    caught, faults = 0, []
    replies = [(rank, rank.reply) for rank in forged.last.ranks if rank.reply is not None]
    ranks = [rank for rank, reply in replies if reply.value != NOTHING or rank.tensors]
    alone = [(name, _of(ranks[-1].rank, forgery)) for name, forgery in forgeries(ranks[-1])]
    for name, forged.forgery in (*alone, *conspiracies(ranks[0])):
        result = examined()
        caught += result.status in (Status.FAILED, Status.TIMEOUT, Status.CRASHED)
        if result.status is Status.KIT_ERROR:
            faults.append(f"rank {ranks[-1].rank} {name}: {result.reason}")
    assert not faults
    assert caught


@pytest.mark.parametrize(
    ("fails_on", "reference", "status", "says"),
    [
        ("the forged one", True, Status.FAILED, "no judgement on what came back"),
        ("the forged one", False, Status.KIT_ERROR, "no judgement on what came back"),
        ("both", True, Status.KIT_ERROR, "the reference fails its own check"),
    ],
)
def test_a_judge_that_fails_is_charged_to_who_makes_it_fail(
    fails_on: str, reference: bool, status: Status, says: str, cluster: Cluster
) -> None:
    check = next(check for check in checks_of("collectives") if check.id == "collectives.broadcast.values")

    def judge(example: Any, outcome: Outcome) -> Any:
        if fails_on == "both" or any("stranger" in rank.tensors for rank in outcome.ranks):
            raise ZeroDivisionError("by a stranger")
        return check.judge(example, outcome)

    planned, forged = _planned_alone(check.id, 3), ForgedCluster(cluster)
    forged.begin(check, 3)
    forged.forgery = lambda rank: _with(rank, "stranger", torch.ones(2))
    runners = (Runner(planned, forged, REFERENCE), Runner(planned, cluster, REFERENCE))  # type: ignore[arg-type]
    examiner = Examiner(
        planned, Setting(submission="x", budget="few"), runners[0], Reference(runners[1]) if reference else None
    )
    result = examiner.examine(msgspec.structs.replace(check, judge=judge))
    assert result.status is status
    assert says in result.reason


def _of(number: int, forgery: Forgery) -> Forgery:
    """The forgery for this rank alone."""
    return lambda rank: forgery(rank) if rank.rank == number else rank


def _planned_alone(id: str, world_size: int) -> Assignment:
    """The assignment with this one check alone, on one world size, and with few examples."""
    document = msgspec.to_builtins(load())
    document["budgets"] = {"few": msgspec.to_builtins(BUDGET)}
    for problem in document["problems"]:
        for task in problem["tasks"]:
            for name in task["checks"]:
                if f"{problem['name']}.{task['name']}.{name}" == id:
                    task["checks"][name] = {"points": 1, "world_sizes": [world_size], "examples": EXAMPLES}
    return msgspec.convert(document, Assignment)


def test_a_reply_is_what_the_ranks_send() -> None:
    """What is forged above is what can be forged: a rank's reply has no other fields."""
    assert {*Reply.__struct_fields__} == {"status", "value", "missing", "raised", "operations", "refused", "tensors"}
