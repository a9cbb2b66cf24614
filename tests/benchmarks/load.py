"""Fairness under load: grades the reference again and again beside busy loops, and says whether it came out the same.

python tests/benchmarks/load.py [--times 50] [--loops-per-core 4] [--at-once 1] [--only ID ...]

Gradings at once are a load on one another, besides the loops: harder, and sooner done. Every loop and every grading is
a session of its own, for Linux shares processors out among sessions first: loops in one session would take one share.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import click

sys.path.insert(0, str(Path(__file__).parent.parent))
from support import without_times  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent.parent
LOOP = "while True: pass"


@contextlib.contextmanager
def _busy(loops: int) -> Iterator[None]:
    processes = [subprocess.Popen([sys.executable, "-c", LOOP], start_new_session=True) for _ in range(loops)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


class Gradings:
    """Gradings of the reference that go on; a context manager that ends them all when it is left early."""

    def __init__(self, only: tuple[str, ...]) -> None:
        self._options = [word for id in only for word in ("--only", id)]
        self._running: set[subprocess.Popen[str]] = set()
        self._over = False

    def __enter__(self) -> Gradings:
        return self

    def __exit__(self, *_: object) -> None:
        self._over = True
        for process in list(self._running):
            process.terminate()

    def run(self, file: Path) -> tuple[dict[str, Any], float]:
        """The results.json of one but for its times, and the seconds that it took."""
        if self._over:
            return {"score": None, "said": "not begun"}, 0.0
        command = [sys.executable, "-m", "autograder", "grade", "solutions", "--results", str(file), *self._options]
        begin, pipe = time.monotonic(), subprocess.PIPE
        with subprocess.Popen(
            command, cwd=ROOT, stdout=pipe, stderr=pipe, text=True, start_new_session=True
        ) as process:
            self._running.add(process)
            if self._over:  # left meanwhile, and perhaps before this one could be seen
                process.terminate()
            said = "".join(process.communicate())
            self._running.discard(process)
        seconds = time.monotonic() - begin
        if process.returncode:
            return {"score": None, "said": said[-4000:]}, seconds
        return without_times(json.loads(file.read_text())), seconds


@click.command()
@click.option("--times", default=50, show_default=True)
@click.option("--loops-per-core", default=4, show_default=True)
@click.option("--at-once", default=1, show_default=True)
@click.option("--only", multiple=True)
def main(times: int, loops_per_core: int, at_once: int, only: tuple[str, ...]) -> None:
    """Grades the reference TIMES times with busy loops beside it."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # or the loops would go on for ever
    cores = os.cpu_count() or 1
    reports: list[dict[str, Any]] = []
    with (
        tempfile.TemporaryDirectory() as folder,
        _busy(loops_per_core * cores),
        ThreadPoolExecutor(at_once) as pool,
        Gradings(only) as gradings,
    ):
        files = [Path(folder) / f"{number}.json" for number in range(times)]
        for report, seconds in pool.map(gradings.run, files):
            reports.append(report)
            same = "the same report" if report == reports[0] else "ANOTHER REPORT"
            print(f"{len(reports)}: score {report['score']}, {same}, {seconds:.0f} s", flush=True)
            if report != reports[0] or report["score"] is None:
                print(report.get("said") or _lost(report), flush=True)
    full = sum(not _lost(report) and report["score"] is not None for report in reports)
    alike = sum(report == reports[0] for report in reports)
    print(
        f"{times} gradings, {at_once} at once, beside {loops_per_core} busy loops a core ({cores} cores): "
        f"{full} with full marks, {alike} with the same report"
    )
    sys.exit(full < times or alike < times)


def _lost(report: dict[str, Any]) -> list[str]:
    """Checks that did not pass, with the first line of why."""
    failed = [test for test in report.get("tests", []) if test["score"] < test["max_score"]]
    return [f"{test['name']}: {test['output'].splitlines()[0]}" for test in failed]


if __name__ == "__main__":
    main()
