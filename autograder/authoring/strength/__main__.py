"""python -m autograder.authoring.strength mutants|matrix|seeds; the Makefile says how."""

from __future__ import annotations

import sys
from pathlib import Path

import click
import msgspec
from rich.console import Console

from autograder.authoring.strength import mutants as mutation
from autograder.report.write import write_atomically


@click.group()
def main() -> None:
    """How strong the checks are."""


ONLY = click.option("--only", multiple=True, help="a problem, a function or a method")
RESULTS = click.option("--results", type=click.Path(path_type=Path), help="a file for the same as JSON")


@main.command()
@ONLY
@click.option("--explained", is_flag=True, help="show those that are explained, too")
def mutants(only: tuple[str, ...], explained: bool) -> None:
    """Which small changes of the solutions no check notices."""
    console = Console()
    verdicts, wrong = mutation.run(only, console)
    for verdict in verdicts if explained else ():
        if verdict.kind in ("equivalent", "gpu"):
            mutation.show(verdict, console)
    console.print(mutation.table(verdicts))
    for line in wrong:
        console.print(f"tests/problems/*/equivalent_mutants.toml: {line}", markup=False)
    sys.exit(bool(wrong) or any(verdict.kind in ("survived", "fault") for verdict in verdicts))


@main.command()
@ONLY
@RESULTS
@click.option("--every", default=5, help="of each function's mutants one in so many; 0: none")
def matrix(only: tuple[str, ...], results: Path | None, every: int) -> None:
    """What each check catches, and what only it catches."""
    from autograder.authoring.strength import matrix, strengths  # they read the kit's tests, which mutants need not

    console = Console()
    found = strengths.strengths(matrix.run(only, every, console))
    strengths.show(found, console)
    if results is not None:
        write_atomically(results, msgspec.json.format(msgspec.json.encode(found)).decode() + "\n")
    sys.exit(bool(found.not_caught or found.refused or found.faults))


@main.command()
@ONLY
@click.option("--seeds", "count", default=5, help="so many seeds")
def seeds(only: tuple[str, ...], count: int) -> None:
    """Which wrong submissions a check that should catch them misses with some seed."""
    from autograder.authoring.strength import seeds

    console = Console()
    tried, missed = seeds.run(only, count, console)
    console.print(f"{tried} times a wrong submission met a check that has to fail it: {len(missed)} times it did not")
    sys.exit(bool(missed))


if __name__ == "__main__":
    main()
