"""The chapters' worked examples are run on the reference: what a student reads there is what comes out."""

from __future__ import annotations

import re
from typing import Any

import pytest
import torch

from autograder.cluster.cluster import Cluster
from autograder.grading.assignment import load
from autograder.protocol.request import Request
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


def request(function: str, named: dict[str, Any], more: dict[str, Any]) -> tuple[Request, dict[str, torch.Tensor]]:
    """What the driver is asked."""
    names, flat = {}, {}
    for name, value in named.items():
        if isinstance(value, torch.Tensor):
            names[name], flat[f"0/{name}"] = ("contiguous", None), value
        else:
            names[name] = ("contiguous", len(value or []))
            flat |= {f"0/{name}/{i}": tensor for i, tensor in enumerate(value or [])}
    arguments = {"function": function, "group": None, "must_raise": "", "keywords": more, "calls": [names]}
    return Request("collectives", "call", arguments), flat


@pytest.mark.parametrize(("call", "before", "after"), BLOCK.findall(CHAPTER))
def test_worked_example(call: str, before: str, after: str, cluster: Cluster) -> None:
    function, more = keywords(call)
    given, wanted = rows(before), rows(after)
    asked = [request(function, tensors(function, b, a), more) for b, a in zip(given, wanted, strict=True)]
    outcome = cluster.group(ROOT / "solutions", "gloo", RANKS).call(*zip(*asked, strict=True))
    assert outcome.returned, outcome
    for rank, expected in zip(outcome.ranks, wanted, strict=True):
        named = {name.removeprefix("0/"): tensor for name, tensor in rank.tensors.items()}
        got = named.get("output", named.get("tensor"))
        if function == "gather" and expected is not None:
            got = torch.cat([named[f"gather_list/{i}"] for i in range(RANKS)])
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
