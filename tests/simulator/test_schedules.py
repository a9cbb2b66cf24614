"""Adversarial schedules: no false alarm on right programs, and missing waits are caught in every one of them."""

import importlib.util
import sys
from pathlib import Path

import algorithms
import pytest
import torch
import torch.distributed as dist
from exercises import EXERCISES
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from warm_ranks import Ranks, once

from autograder.simulator.delays import Delays

PROBLEMS = Path(__file__).parent.parent / "problems"
SOLUTIONS = PROBLEMS.parent.parent / "solutions"
# Schedules for each program, over all world sizes.
SCHEDULES = [pytest.param(24, id="some"), pytest.param(201, id="many", marks=pytest.mark.thorough)]
RIGHT = [
    (problem, path) for problem in EXERCISES for path in [None, *sorted((PROBLEMS / problem / "unusual").glob("*.py"))]
]
MISSING_WAITS = [
    "collectives/irecv_read_before_wait.py",
    "collectives/isend_never_waited_for.py",
    "collectives/isend_waited_for_too_late.py",
    "data_parallel/average_used_before_the_wait.py",
    "data_parallel/ddp_divides_before_the_wait.py",
    "data_parallel/ddp_waits_for_the_last_bucket_only.py",
]

seconds = st.lists(st.floats(0, 1e-3), max_size=7).map(tuple)
schedules = st.builds(Delays, seconds, seconds)


def submission(folder, problem, path):
    """The reference with the functions of `path` in place of its own, imported; ranks forked later have it too."""
    text = (SOLUTIONS / f"{problem}.py").read_text() + ("\n\n" + path.read_text() if path else "")
    name = f"{problem}_{path.stem if path else 'reference'}"
    file = folder / f"{name}.py"
    file.write_text(text)
    spec = importlib.util.spec_from_file_location(name, file)
    sys.modules[name] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return name


@pytest.mark.parametrize("count", SCHEDULES)
@pytest.mark.parametrize(
    ("problem", "path"), RIGHT, ids=lambda value: value if isinstance(value, str) else Path(value or "reference").stem
)
def test_no_false_alarm(problem, path, count, tmp_path):
    name = submission(tmp_path, problem, path)
    for n in (1, 3, 4):
        with Ranks(n) as ranks:

            @settings(
                max_examples=count // 3,
                deadline=None,
                database=None,
                derandomize=True,
                suppress_health_check=list(HealthCheck),
            )
            @given(schedules, st.integers(0, 7), st.booleans())
            def check(delays, elements, buffered):
                outcome = ranks.run(EXERCISES[problem], name, elements, delays=delays, buffered=buffered)
                assert outcome.verdict is None, str(outcome.verdict)
                assert outcome.results == [None] * n  # noqa: B023 (it is called at once)

            check()


@pytest.mark.parametrize("file", MISSING_WAITS)
def test_missing_waits_are_caught_every_time(file, tmp_path):
    problem = file.split("/")[0]
    name = submission(tmp_path, problem, PROBLEMS / problem / "mistakes" / file.split("/")[1])
    for seed in range(10):
        outcome = once(EXERCISES[problem], 3, name, 5, seed=seed)
        assert outcome.verdict is not None and outcome.verdict.kind in ("in_flight", "unwaited"), str(outcome.verdict)


def test_delays_change_the_order_of_arrival():
    with Ranks(4) as ranks:
        orders = {tuple(ranks.run(algorithms.any_order_gather, 3, seed=seed).results[0]) for seed in range(30)}
    assert len(orders) > 1
    assert all(sorted(order) == [1, 2, 3] for order in orders)


def in_order(rank, n):
    """Messages of one rank to another with one tag must not overtake each other."""
    if rank == 0:
        for work in [dist.isend(torch.tensor([k]), 1) for k in range(8)]:
            work.wait()
        return None
    got = []
    for k in range(8):
        x = torch.zeros(1, dtype=torch.int64)
        dist.recv(x, 0 if k % 2 else None)
        got.append(x.item())
    return got


def test_messages_do_not_overtake():
    with Ranks(2) as ranks:
        for seed in range(20):
            assert ranks.run(in_order, seed=seed, buffered=bool(seed % 2)).results[1] == list(range(8))


def dawdling(rank, n):
    """Takes real time that must not matter."""
    import random

    from autograder.simulator import clock

    order = []
    for _ in range(3):
        clock.real.sleep(random.random() * 0.01)
        order.append(algorithms.any_order_gather(rank, n, 2))
        dist.barrier()
    return order


def test_the_same_seed_gives_the_same_trace():
    with Ranks(4, "pod") as ranks:
        for seed in (None, 1, 2):
            assert len({ranks.run(dawdling, seed=seed, traced=True).trace for _ in range(4)}) == 1
