"""The chapters' worked examples are run on the reference: what a student reads there is what comes out."""

from __future__ import annotations

import re
from typing import Any

import pytest
import torch

from autograder.authoring.chapters import ChapterError, block, render
from autograder.checks.example import Call
from autograder.cluster.cluster import Cluster
from autograder.grading.assignment import load
from autograder.grading.registry import load_checks
from autograder.problems.collectives.messages import CallArguments, Keywords, entry, of_call
from autograder.system.paths import ROOT

RANKS = 4
BLOCK = re.compile(r"```four-ranks\n(.+)\nbefore:(.+)\nafter:(.+)\n```")
CHAPTER = (ROOT / "assignment" / "collectives.md").read_text()
Rows = list[torch.Tensor | None]


def rows(text: str) -> Rows:
    """One bracket or dash a rank."""
    found = re.findall(r"\[([^\]]*)\]|(-)(?=\s|$)", text)
    assert len(found) == RANKS, text
    return [None if dash else torch.tensor([float(x) for x in numbers.split()]) for numbers, dash in found]


def keywords(text: str) -> tuple[str, dict[str, Any]]:
    function, *pairs = text.split()
    values = dict(pair.split("=") for pair in pairs)
    return function, {key: value if key == "op" else int(value) for key, value in values.items()}


def tensors(function: str, before: torch.Tensor | None, after: torch.Tensor | None) -> dict[str, Any]:
    """The arguments of one rank: a tensor, a list of tensors of one element, or None."""
    if function == "scatter":
        return {"tensor": torch.zeros(1), "scatter_list": None if before is None else list(before.split(1))}
    if function == "gather":
        return {"tensor": before, "gather_list": None if after is None else [torch.zeros(1) for _ in after]}
    if function in ("all_gather", "reduce_scatter", "all_to_all"):
        return {"output": torch.zeros_like(after), "input": before}
    return {"tensor": before}


def asked(function: str, named: dict[str, Any], more: dict[str, Any]) -> tuple[CallArguments, dict[str, torch.Tensor]]:
    """What rank.py is asked of one rank."""
    lengths: dict[str, int | None] = {}
    flat = {}
    for name, value in named.items():
        if isinstance(value, torch.Tensor):
            lengths[name], flat[of_call(0, name)] = None, value
        else:
            lengths[name] = len(value or [])
            flat |= {of_call(0, entry(name, i)): tensor for i, tensor in enumerate(value or [])}
    return CallArguments(function=function, calls=1, tensors=lengths, keywords=Keywords(**more)), flat


@pytest.mark.parametrize(("call", "before", "after"), BLOCK.findall(CHAPTER))
def test_worked_example(call: str, before: str, after: str, cluster: Cluster) -> None:
    function, more = keywords(call)
    given, wanted = rows(before), rows(after)
    by_rank = [asked(function, tensors(function, b, a), more) for b, a in zip(given, wanted, strict=True)]
    one_call = Call("call", *zip(*by_rank, strict=True))
    outcome = cluster.group(ROOT / "solutions", "gloo", RANKS).call(one_call.requests("collectives"), one_call.tensors)
    assert outcome.returned, outcome
    for rank, expected in zip(outcome.ranks, wanted, strict=True):
        got = rank.tensors.get(of_call(0, "output"), rank.tensors.get(of_call(0, "tensor")))
        if function == "gather" and expected is not None:
            got = torch.cat([rank.tensors[of_call(0, entry("gather_list", i))] for i in range(RANKS)])
        if function in ("reduce", "gather") and expected is None:
            expected = given[rank.rank]
        assert torch.equal(got, expected)


def test_the_lectures_examples_are_there() -> None:
    shown = [keywords(call)[0] for call, _, _ in BLOCK.findall(CHAPTER)]
    assert set(shown) == {task.name for task in load().problem("collectives").tasks}


@pytest.mark.parametrize("problem", load().problems, ids=lambda problem: problem.name)
def test_every_task_has_its_section(problem: Any) -> None:
    """Messages send a student to the section of the task's name."""
    headings = re.findall(r"^## (.+)$", (ROOT / "assignment" / f"{problem.name}.md").read_text(), re.MULTILINE)
    assert {task.name for task in problem.tasks} <= set(headings)


def test_points_in_the_chapters_are_those_of_the_assignment() -> None:
    """Rendered, not written: make chapters."""
    assignment = load()
    titles = {id: check.title for id, check in load_checks(assignment).items()}
    for number, problem in enumerate(assignment.problems, 1):
        text = (ROOT / "assignment" / f"{problem.name}.md").read_text()
        content = block(number, problem, assignment.plan(), titles)
        assert render(text, problem.name, content) == text, "run make chapters"
        assert not re.search(r"\d+ points", text.replace(content, "")), "points stand in assignment.toml alone"


def test_a_chapter_without_its_markers_is_told() -> None:
    with pytest.raises(ChapterError, match=r"sums\.md: there has to be one line"):
        render("# Sums\n", "sums.md", "")
