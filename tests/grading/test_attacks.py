"""Submissions that try to earn points without doing the work, or to do harm: each earns nothing and harms nothing else.

A folder of tests/attacks/ is one submission. Its attack.toml says what it tries, and what the report must say of it.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import psutil
import pytest

from autograder.checks.finding import Status
from autograder.cluster import launch, sandbox
from autograder.cluster.cluster import Cluster
from autograder.cluster.outcome import End, Outcome, RankOutcome
from autograder.diagnosis.forbidden_operation import forbidden_operation
from autograder.grading.assignment import Budget, load
from autograder.grading.reference import ReferenceResults
from autograder.grading.session import Request, grade
from autograder.protocol.operation import Operation
from autograder.report.clean import one_line
from autograder.report.failure import plain
from autograder.report.model import Report
from autograder.report.write import write_report
from autograder.system.paths import ROOT

ATTACKS = ROOT / "tests" / "attacks"
SECRET = "the-grader-has-a-secret"
FEW = msgspec.structs.replace(load(), budgets={"local": Budget(examples=2, reference="failure")})
Graded = Callable[..., Report]
BESIDE_RANKS = {"bubblewrap": 2, "plain": 0}  # the sandbox's first process, and the zygote below it


class Attack(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An attack.toml: the number in the list of attacks, and what the report says (`says`, a pattern) and must not say.

    `tiers` are those that can hold it.
    `shared` is a module of attacks/shared/ that several submissions hand in as theirs; with `upon_the_reference` the
    reference's module comes first, and the attack's own definitions after it.
    """

    number: int
    about: str
    says: str
    never_says: str = "^$"
    problem: str = "collectives"
    checks: tuple[str, ...] = ("broadcast.values", "all_reduce.values")
    tiers: tuple[str, ...] = ("bubblewrap", "plain")
    shared: str = ""
    upon_the_reference: bool = False


def _attacks() -> Iterator[Any]:
    for path in sorted(ATTACKS.glob("*/attack.toml")):
        attack = msgspec.convert(tomllib.loads(path.read_text()), Attack)
        for tier in attack.tiers:
            yield pytest.param(path.parent, attack, tier, id=f"{path.parent.name}-{tier}")


@pytest.fixture(scope="module")
def clusters() -> Iterator[Callable[[str], Cluster]]:
    """One cluster a tier for all attacks, each of which the next one has to survive."""
    there: dict[str, Cluster] = {}
    os.environ["SECRET"] = SECRET

    def cluster(tier: str) -> Cluster:
        if tier == "bubblewrap" and sandbox.unavailable():
            pytest.skip(sandbox.unavailable())
        if tier not in there:
            there[tier] = Cluster(launch.Start(load().limits, isolated=tier == "bubblewrap"))
        return there[tier]

    yield cluster
    for each in there.values():
        each.close()
    del os.environ["SECRET"]


@pytest.fixture(scope="module")
def graded(clusters: Callable[[str], Cluster]) -> Graded:
    """Grades on a cluster; the reference has its own, and is asked once."""
    reference_results: ReferenceResults = {}

    def graded(folder: Path, cluster: Cluster, *only: str) -> Report:
        request, shared = (
            Request(submission=str(folder), only=only),
            {"cluster": cluster, "reference_results": reference_results},
        )
        return grade(request, planned=FEW, references=clusters("references"), **shared)

    return graded


def _said(report: Report) -> str:
    """All that is said of failures, whatever the lines are."""
    said = (plain(check.failure) if check.failure else check.reason for check in report.checks)
    return "\n".join(map(one_line, said))


@pytest.mark.parametrize(("folder", "attack", "tier"), [*_attacks()])
def test_an_attack_earns_nothing_and_harms_nothing(
    folder: Path, attack: Attack, tier: str, tmp_path: Path, clusters: Callable[[str], Cluster], graded: Graded
) -> None:
    submission = tmp_path / "submission"
    shutil.copytree(folder, submission)
    if attack.shared:
        shutil.copy(ATTACKS / "shared" / attack.shared, submission)
    if attack.upon_the_reference:
        module = submission / f"{attack.problem}.py"
        module.write_text((ROOT / "solutions" / module.name).read_text() + "\n\n" + module.read_text())
    there = set(os.listdir(submission))
    cluster = clusters(tier)
    with socket.create_server(("127.0.0.1", 0)) as server:
        (submission / "port.txt").write_text(str(server.getsockname()[1]))
        report = graded(submission, cluster, *(f"{attack.problem}.{check}" for check in attack.checks))
        server.settimeout(0.01)
        if tier == "bubblewrap":
            with pytest.raises(TimeoutError):
                server.accept()
    said = _said(report)
    assert report.earned == 0, said
    assert not report.kit_errors, said
    for check in report.checks:
        assert check.status is not Status.PASSED and (check.reason or check.waits_for), check
    assert re.search(attack.says, said), said
    assert not re.search(attack.never_says, said), said
    assert SECRET not in said
    assert not (set(os.listdir(submission)) - there - {"port.txt"})
    _assert_nobody_is_left(cluster, tier)
    honest = graded(ROOT / "solutions", cluster, "broadcast.values")
    assert honest.earned == honest.points, _said(honest)


def _assert_nobody_is_left(cluster: Cluster, tier: str) -> None:
    """No process but those that are meant to be there."""
    line = cluster._line
    if line is not None:
        there = psutil.Process(line.zygote.process.pid).children(recursive=True)
        ranks = sum(group.world_size for group in cluster._groups.values() if group.warm)
        assert len(there) <= BESIDE_RANKS[tier] + ranks, there


def test_every_listed_attack_is_tried() -> None:
    """14, hostile archives, is in test_submission.py."""
    assert {attack.values[1].number for attack in _attacks()} == set(range(1, 17)) - {14}


def test_one_grading_finds_nothing_of_another(graded: Graded) -> None:
    """Two sandboxes, one after the other; in the first, garbage has been left everywhere."""
    if sandbox.unavailable():
        pytest.skip(sandbox.unavailable())
    for _ in range(2):
        with Cluster(launch.Start(load().limits, isolated=True)) as cluster:
            said = _said(graded(ATTACKS / "leaves_garbage", cluster, "broadcast.values", "all_reduce.values"))
        assert "is wrong" in said and "garbage of an earlier" not in said


@pytest.mark.parametrize("suffix", [".json", ".xml", ".html", ".csv"])
def test_text_of_a_submission_acts_in_no_report(
    suffix: str, tmp_path: Path, clusters: Callable[[str], Cluster], graded: Graded
) -> None:
    report = graded(ATTACKS / "text_that_acts", clusters("plain"), "broadcast.values", "all_reduce.values")
    write_report(report, tmp_path / f"r{suffix}")
    text = (tmp_path / f"r{suffix}").read_text()
    for active in ("\x1b", "\x07", "\u202e", "\x00"):
        assert active not in text
    if suffix == ".html":
        assert "<script>alert" not in text
    if suffix == ".csv":
        assert not re.search(r'(^|,)"?=', text, re.MULTILINE)


def test_operations_that_only_the_switch_has_seen_are_judged() -> None:
    seen = Operation("all_reduce", "", -1, 4, 0, (0,), 0.0, 0.0, "collectives.py", 3)
    outcome = Outcome(ranks=(RankOutcome(rank=0, end=End.REPLIED, observed=(seen,)),))
    told = forbidden_operation(outcome, ("send", "recv"))
    assert told is not None and told[0] is Status.FAILED and "not allowed in this problem" in told[1].headline
    assert forbidden_operation(outcome, ()) is None
