"""The tools that measure the checks: mutants are what they say, and what is said of them holds."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from rich.console import Console

from autograder.authoring.strength import seeds
from autograder.authoring.strength.bench import PLANNED, SOLUTIONS, Bench, End, fitting, planned_checks, tasks_of
from autograder.authoring.strength.equivalent import Equivalent, stale
from autograder.authoring.strength.matrix import Entry
from autograder.authoring.strength.mutants import Verdict, graded, verdict
from autograder.authoring.strength.mutate import mutants
from autograder.authoring.strength.reach import affected, defined, reached
from autograder.authoring.strength.record import Record
from autograder.authoring.strength.seeds import Promise, promises
from autograder.authoring.strength.strengths import strengths
from autograder.grading.assignment import PlannedCheck


def _mutated(source: str) -> set[tuple[str, str]]:
    return {(mutant.before, mutant.after) for mutant in mutants(textwrap.dedent(source), "module")}


@pytest.mark.parametrize(
    ("line", "changed"),
    [
        ("return a < b", ["return a <= b", "return a >= b", "return None"]),
        ("return a + b * 2", ["return a - b * 2", "return a + b / 2", "return a + b * 3", "return a + b * 1"]),
        ("return (a + b) % 7", ["return a + b"]),
        ("return 2 * ((a + b) % 7)", ["return 2 * ((a + b))", "return 2 / ((a + b) % 7)"]),
        ("return 1 - a % b", ["return 1 - a"]),
        ("return a is not None", ["return a is None"]),
        ("return not a", ["return a"]),
        ("return a and b", ["return a or b", "return a", "return b"]),
        ("return a if b else 0", ["return a if True else 0", "return a if False else 0", "return a if not (b) else 0"]),
        ("return min(a, b)", ["return max(a, b)"]),
        ("return f(a, b, key=1)", ["return f(a, b)"]),
        ("return f(key=1, other=a)", ["return f(other=a)", "return f(key=1)"]),
        ("return f(key=1)", ["return f()"]),
        ("return list(a)", ["return a"]),
        ("return a.clone()", ["return a"]),
        ("return a[1:b]", ["return a[:b]", "return a[1:]"]),
        ("return x.grad", ["return None"]),
        ("return [i for i in a if i]", ["return [i for i in a if True]"]),
        ("return True", ["return False"]),
        ("a += 1", ["a -= 1", "a = 1", "pass"]),
        ("a = b", ["pass"]),
        ("f(a)", ["pass"]),
        ("del a[0]", ["pass"]),
        ("raise ValueError('text')", ["pass"]),
    ],
)
def test_a_line_is_mutated(line: str, changed: list[str]) -> None:
    made = _mutated(f"def function(a, b):\n    {line}\n")
    assert {(line, other) for other in changed} <= made


def test_blocks_and_decorators_are_mutated() -> None:
    made = _mutated(
        """
        @decorator
        def function(a):
            with context():
                for i in a:
                    if i:
                        break
        """
    )
    assert {
        ("with context():", "if True:"),
        ("break", "continue"),
        ("if i:", "if not (i):"),
        ("@decorator", "#no decorator"),
    } <= made
    assert any(before.startswith("for i in a:") and after == "pass" for before, after in made)


def test_words_and_types_are_left_alone() -> None:
    made = _mutated(
        '''
        """The module, 1."""
        def function(a: int | None) -> "tuple[int, 1]":
            """Gives 1."""
            only: dict[int, 1] = a
            raise ValueError(f"not {a + 1}" + " or 2")
        '''
    )
    assert made == {('raise ValueError(f"not {a + 1}" + " or 2")', "pass")}


def test_mutants_are_named_by_their_place_and_differ_by_one_line() -> None:
    source = "class C:\n    def method(self):\n        # why\n        return 1  # because\n"
    first = mutants(source, "module")[0]
    assert (first.where, first.top, first.line, first.before) == ("C.method", "C", 4, "return 1")
    assert first.source == source.replace("return 1", "return None")


def test_only_what_students_write_is_mutated() -> None:
    source = "def function():\n    a = 1\n    # BEGIN SOLUTION\n    return a + 2\n    # END SOLUTION\n"
    assert {mutant.line for mutant in mutants(source, "module")} == {4}


def test_a_helper_reaches_the_tasks_that_use_it() -> None:
    source = "LIMIT = 1\ndef _a(): return LIMIT\ndef b(): return _a()\ndef c(): return b()\ndef d(): return 1\n"
    tasks = ["b", "c", "d"]
    assert reached(source, ["LIMIT"], tasks) == ["b", "c"]
    assert reached(source, ["b"], tasks) == ["b"]
    assert reached(source, ["unheard_of"], tasks) == tasks
    assert set(defined("import os\ndef f(): pass\nC.m = f\n(x, y) = 1, 2\n")) == {"f", "C", "x", "y"}


def test_only_names_problems_functions_and_methods() -> None:
    assert fitting("data_parallel", "_Bucket.reset", ["data_parallel"])
    assert fitting("data_parallel", "_Bucket.reset", ["_Bucket"])
    assert fitting("data_parallel", "_Bucket.reset", ["_Bucket.reset"])
    assert not fitting("data_parallel", "_Bucket.reset", ["Bucket", "collectives"])


def test_an_entry_that_fits_no_mutant_is_an_error() -> None:
    mutant = mutants("def f():\n    return 1\n", "module")[0]
    entries = [Equivalent(*mutant.key[:3], reason="so it is"), Equivalent("module.f", "return 3", "return 4", "once")]
    assert list(stale(entries, [mutant], [])) == ["module.f: fits no mutant: return 3 -> return 4"]
    assert "was caught" in next(stale(entries, [mutant], [mutant]))


def test_a_record_outlives_its_run_but_not_its_grader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Record("mutants", tmp_path).note("source", [])
    assert Record("mutants", tmp_path).known("source") == []
    monkeypatch.setattr("autograder.authoring.strength.record.grader", lambda: "another")
    assert Record("mutants", tmp_path).known("source") is None


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    with Bench() as bench:
        yield bench


def test_what_a_change_can_affect_is_seen_from_names() -> None:
    source = "def helper(): pass\ndef one(): helper()\ndef two(): one()\ndef three(): pass\n"
    tasks = ["one", "two", "three"]
    assert affected(source, ["helper"], tasks) == {"one", "two"}
    assert affected(source, ["two"], tasks) == {"two"}
    assert affected(source, ["unused"], tasks) == set(tasks)


def test_a_real_mutant_is_caught(bench: Bench) -> None:
    made = mutants((SOLUTIONS / "pipeline_parallel.py").read_text(), "pipeline_parallel")
    mutant = next(m for m in made if m.where == "split_layers" and "layers - min(stage, extra)" in m.after)
    found = verdict(mutant, graded(bench, mutant), {})
    assert (found.kind, found.check) == ("caught", "pipeline_parallel.split_layers.even")


def test_a_mutant_of_what_nobody_needs_survives_until_it_is_explained(bench: Bench) -> None:
    solution = (SOLUTIONS / "pipeline_parallel.py").read_text()
    needless = solution.replace("    layers, extra =", "    print(num_layers)\n    layers, extra =")
    mutant = next(m for m in mutants(needless, "pipeline_parallel") if m.before == "print(num_layers)")
    ends = graded(bench, mutant)
    assert verdict(mutant, ends, {}).kind == "survived"
    entry = Equivalent(*mutant.key[:3], reason="printing changes no result")
    assert verdict(mutant, ends, {entry.key: entry}) == Verdict(mutant, "equivalent", reason=entry.reason)


def test_a_check_is_known_by_what_it_alone_catches() -> None:
    base, other = (check.id for check in planned_checks("pipeline_parallel", ["split_layers"]))
    passed, failed = "passed", "failed"

    def entry(kind: str, name: str, **options: tuple[str, ...]) -> Entry:
        return Entry(kind, name, "pipeline_parallel", "", ("split_layers",), **options)

    found = strengths(
        {
            entry("mistakes", "both"): [End(base, failed, ""), End(other, failed, "")],
            entry("mistakes", "one"): [End(base, failed, ""), End(other, passed, "")],
            entry("mistakes", "none"): [End(base, passed, ""), End(other, passed, "")],
            entry("unusual", "wronged"): [End(base, passed, ""), End(other, failed, "so")],
            entry("unusual", "exempt", may_lose=(other,)): [End(base, passed, ""), End(other, failed, "")],
            entry("mutants", "faulty"): [End(base, failed, ""), End(other, "kit_error", "broken")],
        }
    )
    first, second = (next(c for c in found.checks if c.check == id) for id in (base, other))
    assert (first.wrong, first.wrong_alone, first.idle) == (["both", "one"], ["one"], False)
    assert (second.wrong, second.wrong_alone, second.idle) == (["both"], [], True)
    assert (second.right, second.right_refused, first.mutants_alone) == (2, ["wronged"], ["faulty"])
    assert found.not_caught == ["mistakes/pipeline_parallel/none"]
    assert found.refused == [f"unusual/pipeline_parallel/wronged: {other}: so"]
    assert found.faults == [f"mutants/pipeline_parallel/faulty: {other}: broken"]


def test_every_wrong_submission_names_a_check_that_is_there() -> None:
    found = list(promises([]))
    assert {promise.problem for promise in found} == {problem.name for problem in PLANNED.problems}
    for promise in found:
        checks = planned_checks(promise.problem, tasks_of(promise.problem))
        assert any(promise.is_kept_by(check.id) for check in checks), promise
    assert [p for p in found if p.problem == "bandwidth"] == list(promises(["bandwidth"]))
    with pytest.raises(click.UsageError, match="no problem"):
        list(promises(["bandwith"]))


def test_what_is_caught_by_luck_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Of the two, one is caught with the first seed alone, and the other always."""
    kept = [
        Promise("bandwidth", path, "bandwidth.sent_bytes") for path in (tmp_path / "lucky.py", tmp_path / "sure.py")
    ]
    for promise in kept:
        promise.mistake.write_text(f"# {promise.mistake.stem}")
    monkeypatch.setattr(seeds, "promises", lambda only: kept)
    monkeypatch.setattr(seeds, "Record", lambda name: Record(name, tmp_path))

    def ends(bench: Bench, problem: str, source: str, checks: list[PlannedCheck], seed: int, **_: object) -> list[End]:
        assert {check.id for check in checks} == {"bandwidth.sent_bytes.factors", "bandwidth.sent_bytes.unknown"}
        return [End(checks[0].id, "passed" if "lucky" in source and seed else "failed", "")]

    monkeypatch.setattr(Bench, "ends", ends)
    tried, missed = seeds.run([], 3, Console(quiet=True))
    assert tried == 6
    assert [(miss.promise.mistake.stem, miss.seed) for miss in missed] == [("lucky", 1), ("lucky", 2)]
    monkeypatch.setattr(Bench, "ends", None)  # what is known is not graded again
    assert seeds.run([], 3, Console(quiet=True)) == (tried, missed)
