"""The command line: `python -m autograder COMMAND`. Thin; what a command does is in the module that it names."""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, NoReturn

import click

from autograder.grading import assignment as assignments
from autograder.grading.assignment import Assignment, AssignmentError, PlannedCheck
from autograder.report.model import Report
from autograder.system.paths import ROOT

if TYPE_CHECKING:
    from autograder.cluster.launch import Home, Start, Zygote

# Exit statuses: 0 graded, whatever the score; 1 the kit itself failed; 2 wrong usage or unreadable submission.
KIT_FAILED, UNUSABLE = 1, 2
AUTHORING = (ROOT / "autograder" / "authoring").is_dir()  # which students' releases do not have


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Grades the assignment on parallelism, from one GPU to many."""
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _interrupted)


@main.command()
@click.argument("submission", default="handout", type=click.Path())
@click.option("--only", multiple=True, metavar="ID", help="A problem, task or check; may be given several times.")
@click.option("--backend", default="gloo", show_default=True, type=click.Choice(["gloo", "nccl"]))
@click.option("--budget", default="local", show_default=True, help="How many examples are tried: local or full.")
@click.option("--seed", default=0, show_default=True, help="Seed of all examples.")
@click.option(
    "--isolate/--no-isolate",
    default=None,
    help="Run the submission in a sandbox (bubblewrap). The default for all but handout and solutions.",
)
@click.option(
    "--results",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Write the report: .json (Gradescope), .xml (JUnit), .html or .csv.",
)
def grade(
    submission: str,
    only: tuple[str, ...],
    backend: str,
    budget: str,
    seed: int,
    isolate: bool | None,
    results: tuple[Path, ...],
) -> None:
    """Grades SUBMISSION: a folder with the problem modules, or a folder or zip that holds a handout/ with them."""
    from autograder.cluster import sandbox
    from autograder.cluster.launch import NoSandbox
    from autograder.grading.submission import SubmissionError
    from autograder.report.write import ReportError, check_target

    if isolate is None:
        isolate = sandbox.by_default(submission)
    options = {"backend": backend, "budget": budget, "seed": seed, "only": _split(only), "isolate": isolate}
    try:
        planned = assignments.load()
        selected = assignments.select(planned, _split(only))
        for path in results:
            check_target(path)
        report = _graded(planned, selected, submission, **options)
    except (AssignmentError, SubmissionError, ReportError, NoSandbox) as error:
        _fail(str(error), UNUSABLE)
    except KeyboardInterrupt as interrupt:
        _end_interrupted(interrupt.args[0] if interrupt.args else signal.SIGINT)
    except OSError as error:
        _fail(f"the grading broke off, and nothing was written: {error}", KIT_FAILED)
    _hand_out(report, results)
    sys.exit(KIT_FAILED if report.kit_errors else 0)


def _graded(planned: Assignment, selected: Sequence[PlannedCheck], submission: str, **options: Any) -> Report:
    """The report, with a progress bar while it is made."""
    from autograder.cluster import launch

    start = launch.start(planned.limits, options["isolate"], options["backend"])
    launched = _launched(start, submission)
    from autograder.cluster.cluster import Cluster
    from autograder.grading import session
    from autograder.report.terminal import Progress, open_console

    with Cluster(start, launched) as cluster, Progress(open_console()) as progress:
        progress.start(check.id for check in selected)
        return session.grade(
            session.Request(submission=submission, **options),
            planned=planned,
            cluster=cluster,
            progress=progress,
        )


def _launched(start: Start, submission: str) -> tuple[Home, Zygote]:
    """A zygote that is coming up, before anything here has imported torch."""
    from autograder.cluster import forked, sandbox

    if start.method == "fork" and not start.gpus and not sandbox.by_default(submission) and not start.isolated:
        return forked.launch(start)  # torch is imported once
    return start.launch()  # both import it at the same time


def _hand_out(report: Report, results: tuple[Path, ...]) -> None:
    """Shows the report, then writes it; a report that cannot be written is the kit's failure, not the submission's."""
    from autograder.report.terminal import open_console, show
    from autograder.report.write import ReportError, write_report

    show(report, open_console())
    try:
        for path in results:
            write_report(report, path)
    except ReportError as error:
        _fail(str(error), KIT_FAILED)


def _interrupted(number: int, frame: FrameType | None) -> None:
    """SIGTERM ends a grading as Ctrl-C does.

    Python forgets what is raised in a callback of the garbage collector, and hypothesis has one; a signal that came
    while garbage was collected is heard there first. It is sent again then.
    """
    callbacks = [getattr(callback, "__code__", None) for callback in gc.callbacks]
    while frame is not None:
        if frame.f_code in callbacks:
            threading.Timer(0.01, os.kill, (os.getpid(), number)).start()
            return
        frame = frame.f_back
    raise KeyboardInterrupt(number)


def _end_interrupted(number: int) -> NoReturn:
    """Ends at once: Python, should the interrupt have passed through an `exec` of text, as many an import has one,
    would forget the exit status and end itself by SIGINT.
    """
    click.echo("error: interrupted: nothing was graded and nothing was written", err=True)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError):
            stream.flush()
    os._exit(128 + number)


def _split(only: tuple[str, ...]) -> tuple[str, ...]:
    """ONLY=a,b and ONLY="a b" as well as one by one."""
    return tuple(name for names in only for name in names.replace(",", " ").split())


def _fail(text: str, status: int = UNUSABLE) -> NoReturn:
    click.echo(f"error: {text}", err=True)
    sys.exit(status)


@main.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.option("--world-size", default=4, show_default=True, type=click.IntRange(1, 1024), help="How many ranks.")
@click.option("--topology", default="laptop", show_default=True, help="A name or a TOML file.")
@click.option("--trace", metavar="FILE", help="Write a Chrome trace, which Perfetto opens.")
@click.option("--buffered", is_flag=True, help="Sends need not wait for their receive.")
@click.option("--seed", type=int, help="Draw an adversarial schedule.")
@click.argument("script", type=click.Path())
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def run(script: str, arguments: tuple[str, ...], **options: Any) -> None:
    """Runs any torch.distributed SCRIPT on the simulated cluster."""
    from autograder.simulator.runner import run_script

    sys.exit(run_script(script, arguments, **options))


@main.command(hidden=not AUTHORING)
def handout() -> None:
    """Cuts the stubs in handout/ out of solutions/."""
    _needs_authoring()
    from autograder.authoring.stubs import CutError, cut_handout

    try:
        changed = cut_handout(ROOT / "solutions", ROOT / "handout", assignments.load())
    except (CutError, AssignmentError) as error:
        _fail(str(error))
    click.echo("\n".join(f"handout/{path.name}" for path in changed) or "handout/ is up to date")


@main.command(hidden=not AUTHORING)
@click.option("--out", default=ROOT / "dist" / "handout.zip", type=click.Path(path_type=Path))
def release(out: Path) -> None:
    """Packs what students receive: no solutions in it."""
    _needs_authoring()
    from autograder.authoring.release import ReleaseError
    from autograder.authoring.release import release as pack
    from autograder.report.write import ReportError

    try:
        names = pack(ROOT, out)
    except (ReleaseError, ReportError, AssignmentError) as error:
        _fail(str(error))
    click.echo(f"{out}: {len(names)} files")


@main.command(hidden=not AUTHORING)
def chapters() -> None:
    """Renders points and lists of checks into the chapters in assignment/."""
    _needs_authoring()
    from autograder.authoring.chapters import ChapterError, render_chapters

    try:
        changed = render_chapters(ROOT / "assignment", assignments.load())
    except (ChapterError, AssignmentError) as error:
        _fail(str(error))
    click.echo("\n".join(f"assignment/{path.name}" for path in changed) or "the chapters are up to date")


def _needs_authoring() -> None:
    if not AUTHORING:
        _fail("this is what students receive: stubs and releases are made where solutions/ is")
