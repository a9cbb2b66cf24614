"""The command line: `python -m autograder COMMAND`. Thin; what a command does is in the module that it names."""

from __future__ import annotations

import signal
import sys
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from autograder import assignment as assignments
from autograder.assignment import ROOT, AssignmentError

# Exit statuses: 0 graded, whatever the score; 1 the kit itself failed; 2 wrong usage or unreadable submission.
KIT_FAILED, UNUSABLE = 1, 2


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Grades the assignment on parallelism, from one GPU to many."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))


@main.command()
@click.argument("submission", default="handout", type=click.Path())
@click.option("--only", multiple=True, metavar="ID", help="A problem, task or check; may be given several times.")
@click.option("--backend", default="gloo", show_default=True, type=click.Choice(["gloo", "nccl"]))
@click.option("--budget", default="local", show_default=True, help="How many examples are tried: local or full.")
@click.option("--seed", default=0, show_default=True, help="Seed of all examples.")
@click.option("--results", multiple=True, type=click.Path(path_type=Path), help="Write the report: .json (Gradescope), .xml (JUnit), .html or .csv.")
def grade(submission: str, only: tuple[str, ...], backend: str, budget: str, seed: int, results: tuple[Path, ...]) -> None:
    """Grades SUBMISSION: a folder with the problem modules, or a folder or zip that holds a handout/ with them."""
    from autograder.report.terminal import Progress, show
    from autograder.report.write import ReportError, check_target, write_report
    from autograder.submission import SubmissionError

    console = Console(highlight=False)
    try:
        for path in results:
            check_target(path)
        from autograder import grading
        from autograder.plugin import select

        request = grading.Request(submission=submission, only=_split(only), backend=backend, budget=budget, seed=seed)
        with Progress(console) as progress:
            progress.start(check.id for check in select(assignments.load(), request.only))
            report = grading.grade(request, tell=lambda event, *what: getattr(progress, event)(*what))
        show(report, console)
        for path in results:
            write_report(report, path)
    except (AssignmentError, SubmissionError, ReportError) as error:
        _fail(str(error))
    except KeyboardInterrupt:
        click.echo("\ninterrupted: nothing was graded and nothing was written", err=True)
        sys.exit(128 + signal.SIGINT)
    sys.exit(KIT_FAILED if report.kit_errors else 0)


def _split(only: tuple[str, ...]) -> tuple[str, ...]:
    """ONLY=a,b and ONLY="a b" as well as one by one."""
    return tuple(name for names in only for name in names.replace(",", " ").split())


def _fail(text: str) -> Any:
    click.echo(f"error: {text}", err=True)
    sys.exit(UNUSABLE)


@main.command()
def handout() -> None:
    """Cuts the stubs in handout/ out of solutions/."""
    from autograder.handout import CutError, cut_handout

    try:
        changed = cut_handout(ROOT / "solutions", ROOT / "handout", assignments.load())
    except (CutError, AssignmentError) as error:
        _fail(str(error))
    click.echo("\n".join(f"handout/{path.name}" for path in changed) or "handout/ is up to date")


@main.command()
@click.option("--out", default=ROOT / "dist" / "handout.zip", type=click.Path(path_type=Path))
def release(out: Path) -> None:
    """Packs what students receive: no solutions in it."""
    from autograder.release import ReleaseError
    from autograder.release import release as pack
    from autograder.report.write import ReportError

    try:
        names = pack(ROOT, out)
    except (ReleaseError, ReportError, AssignmentError) as error:
        _fail(str(error))
    click.echo(f"{out}: {len(names)} files")
