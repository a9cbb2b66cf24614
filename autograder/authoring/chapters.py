"""Writes what a chapter says of points and checks: rendered from assignment.toml and the problems, never by hand.

Each chapter has one block between the two markers; `make chapters` renders it anew.
"""

from __future__ import annotations

from pathlib import Path

from autograder.grading.assignment import Assignment, PlannedCheck, Problem
from autograder.grading.registry import load_checks
from autograder.report.write import write_atomically

BEGIN, END = "<!-- points: rendered by make chapters -->", "<!-- end of points -->"


class ChapterError(Exception):
    """A chapter cannot be rendered; the text says which and why."""


def render_chapters(folder: Path, assignment: Assignment) -> list[Path]:
    """Renders the block of every chapter in `folder` and returns the files that changed; raises ChapterError."""
    titles = {id: check.title for id, check in load_checks(assignment).items()}
    changed = []
    for number, problem in enumerate(assignment.problems, 1):
        path = folder / f"{problem.name}.md"
        if not path.is_file():
            raise ChapterError(f"{path.name} is missing: every problem has a chapter")
        text = path.read_text(encoding="utf-8")
        rendered = render(text, path.name, block(number, problem, assignment.plan(), titles))
        if rendered != text:
            write_atomically(path, rendered)
            changed.append(path)
    return changed


def render(text: str, name: str, content: str) -> str:
    """The chapter with `content` between its markers."""
    if text.count(BEGIN) != 1 or text.count(END) != 1 or text.index(BEGIN) > text.index(END):
        raise ChapterError(f"{name}: there has to be one line {BEGIN!r}, and one line {END!r} below it")
    before, after = text[: text.index(BEGIN) + len(BEGIN)], text[text.index(END) :]
    return f"{before}\n{content}\n{after}"


def block(number: int, problem: Problem, plan: list[PlannedCheck], titles: dict[str, str]) -> str:
    """A sentence with the problem's points, and one row per check."""
    checks = [check for check in plan if check.problem == problem.name]
    kind = "extra credit" if problem.extra_credit else "points"
    lines = [
        f"Problem {number} is worth {_points(checks)} {kind}. The first check of a task is its base: until it passes,",
        "the others of the task are not run.",
        "",
        "| Task | Check | Points | What must hold |",
        "|---|---|---|---|",
    ]
    for task in problem.tasks:
        of_task = [check for check in checks if check.task == task.name]
        lines.append(f"| **{task.name}** | **together** | **{_points(of_task)}** | the checks below |")
        lines += [f"| {task.name} | {check.name} | {check.points:g} | {titles[check.id]} |" for check in of_task]
    return "\n".join(lines)


def _points(checks: list[PlannedCheck]) -> str:
    return f"{sum(check.points for check in checks):g}"
