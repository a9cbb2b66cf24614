"""What the kit's speed claims rest on: ratios, each of two things measured in turn in this one run.

    make bench              SHORT=yes: one pair of each, to see that it runs

Every figure is the median of pairs run one after the other, so that a busy machine slows both alike.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parent.parent.parent))

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from rich.console import Console
from rich.table import Table

from autograder.cluster import launch, sandbox
from autograder.cluster.cluster import Cluster
from autograder.cluster.group import RankGroup
from autograder.grading.assignment import load
from autograder.problems.collectives.examples import Collective

ROOT = Path(__file__).parent.parent.parent
SOLUTIONS = ROOT / "solutions"
SHORT = "--short" in sys.argv
RANKS, EXAMPLES, PAIRS = 4, 5 if SHORT else 40, 1 if SHORT else 5


def seconds(call: Callable[[], object]) -> float:
    """How long one call takes."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def paired(ours: Callable[[], float], theirs: Callable[[], float], pairs: int = PAIRS) -> tuple[float, float, float]:
    """Medians of both, measured in turn, and the median ratio of the pairs."""
    times = [(ours(), theirs()) for _ in range(pairs)]
    return median(a for a, _ in times), median(b for _, b in times), median(a / b for a, b in times)


def _one_all_reduce(rank: int, folder: str) -> None:
    _join(rank, RANKS, folder)
    dist.all_reduce(torch.ones(4))
    dist.destroy_process_group()  # or gloo's threads may outlive what they use, and abort the process at its end


def _join(rank: int, world_size: int, folder: str) -> None:
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    store = dist.FileStore(f"{folder}/rendezvous", world_size)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=world_size, timeout=timedelta(minutes=5))


def spawned() -> float:
    """mp.spawn of four ranks that meet once."""
    with tempfile.TemporaryDirectory() as folder:
        return seconds(lambda: mp.spawn(_one_all_reduce, (folder,), nprocs=RANKS))


def forked(group: RankGroup) -> float:
    """Four warm ranks from a zygote that is alive, and their first example."""
    group.kill()
    return seconds(lambda: run(group, 1))


EXAMPLE = Collective("all_reduce", RANKS, shape=(1000,))


def run(group: RankGroup, count: int) -> None:
    """The example, `count` times over, through the grader's machinery."""
    call = EXAMPLE.call()
    requests = call.requests("collectives", ("send", "recv"))
    for _ in range(count):
        assert group.call(requests, call.tensors).returned


def _bare_rank(rank: int, folder: str, pipe: int) -> None:
    """The same function on the same tensors, in a loop of its own without any grader."""
    from solutions.collectives import all_reduce

    _join(rank, RANKS, folder)
    tensor = EXAMPLE.arguments[0][rank]["tensor"]
    for _ in range(3):
        all_reduce(tensor.clone())
    dist.barrier()
    start = time.perf_counter()
    for _ in range(EXAMPLES):
        all_reduce(tensor.clone())
    dist.barrier()
    if rank == 0:
        os.write(pipe, f"{(time.perf_counter() - start) / EXAMPLES}".encode())
    dist.destroy_process_group()


def bare() -> float:
    """Seconds an example of a bare loop on four warm ranks."""
    reading, writing = os.pipe()
    with tempfile.TemporaryDirectory() as folder:
        pids = []
        for rank in range(RANKS):
            pid = os.fork()
            if pid == 0:
                torch.set_num_threads(1)
                _bare_rank(rank, folder, writing)
                os._exit(0)
            pids.append(pid)
        for pid in pids:
            os.waitpid(pid, 0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        return float(pipe.read())


def start_seconds(isolated: bool) -> float:
    """From nothing to the first example's end, torch's import included."""
    with Cluster(launch.Start(load().limits, isolated)) as cluster:
        return seconds(lambda: run(cluster.group(submission_in(cluster), "gloo", RANKS), 1))


def submission_in(cluster: Cluster) -> Path:
    """The reference where submissions are: elsewhere a sandbox does not look."""
    folder = cluster.home / "submissions" / "reference"
    if not folder.exists():
        shutil.copytree(SOLUTIONS, folder)
    return folder


def main() -> None:
    torch.set_num_threads(1)
    table = Table("measured", "this kit", "compared with", "ratio", "aim", title="medians of pairs, in one run")

    def row(what: str, ours: str, theirs: str, ratio: str, aim: str) -> None:
        table.add_row(what, ours, theirs, ratio, aim)

    with Cluster(launch.Start(load().limits)) as cluster:
        group = cluster.group(submission_in(cluster), "gloo", RANKS)
        run(group, 3)

        def example() -> float:
            return seconds(lambda: run(group, EXAMPLES)) / EXAMPLES

        ours, theirs, ratio = paired(example, bare)
        row(
            "an all_reduce example on 4 ranks",
            f"{ours * 1e3:.2f} ms",
            f"bare loop {theirs * 1e3:.2f} ms",
            f"{ratio:.2f}",
            "<= 1.5",
        )
        if not sandbox.unavailable():
            with Cluster(launch.Start(load().limits, isolated=True)) as isolated:
                inside = isolated.group(submission_in(isolated), "gloo", RANKS)
                run(inside, 3)
                ours, theirs, ratio = paired(lambda: seconds(lambda: run(inside, EXAMPLES)) / EXAMPLES, example)
            row(
                "the same in a sandbox",
                f"{ours * 1e3:.2f} ms",
                f"outside {theirs * 1e3:.2f} ms",
                f"{ratio:.2f}",
                "<= 1.1",
            )
        ours, theirs, ratio = paired(lambda: forked(group), spawned)
        row(
            "4 ranks from a live zygote",
            f"{ours * 1e3:.0f} ms",
            f"mp.spawn {theirs * 1e3:.0f} ms",
            f"1/{1 / ratio:.0f}",
            "<= 1/50",
        )
    if not sandbox.unavailable():
        ours, theirs, _ = paired(lambda: start_seconds(True), lambda: start_seconds(False))
        row(
            "start to first example, in a sandbox",
            f"{ours:.2f} s",
            f"outside {theirs:.2f} s",
            f"+{ours - theirs:.2f} s",
            "<= +1 s",
        )
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
