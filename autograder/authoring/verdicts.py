"""Whether two states of the kit judge alike: the verdicts on every submission that the kit's tests have, side by side.

    python -m autograder.authoring.verdicts record before.json [--only problem]
    python -m autograder.authoring.verdicts compare before.json after.json [--words]

Every mistake and every unusual submission is graded on the tasks that it is about, the reference and the stubs on all
of them, with few examples and one seed. All fields are compared but times; words (headlines, hints, what ranks were
shown) only with --words. A recording that was interrupted goes on where it stopped.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import msgspec
from rich.console import Console
from rich.progress import track

from autograder.authoring.variants import SOLUTIONS, described, submission_of, variants
from autograder.cluster import launch
from autograder.cluster.cluster import Cluster
from autograder.grading.assignment import Budget, load
from autograder.grading.session import Request, grade
from autograder.report.model import CheckResult
from autograder.report.write import write_atomically
from autograder.system.paths import ROOT

FEW = Budget(examples=1, real_every=1, reference="failure", shrink=60)
PLANNED = msgspec.structs.replace(load(), budgets={"local": FEW})
LEFT_OUT = ("scale",)  # what these see, others see on fewer ranks
Verdicts = dict[str, dict[str, dict[str, Any]]]


@click.group()
def main() -> None:
    """Compares the verdicts of two states of the kit."""


@main.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--only", multiple=True, help="a problem")
def record(file: Path, only: tuple[str, ...]) -> None:
    """Grades every submission and writes how each check ended."""
    found: Verdicts = msgspec.json.decode(file.read_bytes()) if file.exists() else {}
    todo = [entry for entry in _submissions(only) if entry[0] not in found]
    with Cluster(launch.Start(PLANNED.limits)) as cluster, tempfile.TemporaryDirectory() as place:
        for number, (name, path, checks) in enumerate(track(todo, console=Console(stderr=True))):
            folder = Path(place, str(number))
            if path.is_file():
                folder.mkdir()
                submission_of(path, name.split("/")[0], folder)
            else:
                folder = path
            report = grade(Request(submission=str(folder), only=checks), planned=PLANNED, cluster=cluster)
            found[name] = {check.id: _fields(check) for check in report.checks}
            write_atomically(file, msgspec.json.encode(found))


@main.command()
@click.argument("before", type=click.Path(path_type=Path, exists=True))
@click.argument("after", type=click.Path(path_type=Path, exists=True))
@click.option("--words", is_flag=True, help="compare what is said as well")
def compare(before: Path, after: Path, words: bool) -> None:
    """Prints every field that differs; exit status 1 if any does."""
    one, two = (msgspec.json.decode(path.read_bytes(), type=Verdicts) for path in (before, after))
    lines = list(differences(one, two, words))
    click.echo("\n".join(lines) or f"the same verdicts on {len(one)} submissions")
    sys.exit(bool(lines))


def differences(before: Verdicts, after: Verdicts, words: bool = False) -> Iterator[str]:
    """What two recordings do not agree about, a line each."""
    for name in sorted(before.keys() | after.keys()):
        if name not in before or name not in after:
            yield f"{name}: only {'after' if name in after else 'before'}"
            continue
        for check in sorted(before[name].keys() | after[name].keys()):
            one, two = before[name].get(check, {}), after[name].get(check, {})
            for field in sorted(one.keys() | two.keys()):
                if (words or field != "words") and one.get(field) != two.get(field):
                    yield f"{name} {check} {field}: {one.get(field)!r} -> {two.get(field)!r}"


def _submissions(only: tuple[str, ...]) -> Iterator[tuple[str, Path, tuple[str, ...]]]:
    """Name, file or folder, and the checks to run, of all submissions."""
    plan = [check for check in PLANNED.plan() if check.name not in LEFT_OUT and (not only or check.problem in only)]
    everything = tuple(check.id for check in plan)
    yield "solutions", SOLUTIONS, everything
    yield "handout", ROOT / "handout", everything
    for problem in dict.fromkeys(check.problem for check in plan):
        for kind in ("mistakes", "unusual"):
            for path in variants(kind, problem):
                tasks = {id.split(".")[1] for id in described(path).loses if "." in id}
                checks = tuple(c.id for c in plan if c.problem == problem and (not tasks or c.task in tasks))
                yield f"{problem}/{kind}/{path.stem}", path, checks


def _fields(check: CheckResult) -> dict[str, Any]:
    failure = check.failure
    rows = [] if failure is None else [[view.rank, view.wrong] for view in failure.ranks]
    said = [] if failure is None else [failure.headline, *failure.hints, *failure.where, failure.call, failure.setting]
    return {
        "status": str(check.status),
        "points": check.points,
        "earned": check.earned,
        "number": check.number,
        "visibility": check.visibility,
        "waits_for": check.waits_for,
        "examples": {str(world_size): count for world_size, count in check.examples.items()},
        "ranks": rows,
        "words": [check.title, check.reason, *said],
    }


if __name__ == "__main__":
    main()
