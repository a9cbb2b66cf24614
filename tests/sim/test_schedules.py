"""Adversarial schedules: no false alarm on right programs, and missing waits are caught in every one of them."""

import importlib.util
import sys
from pathlib import Path

import algorithms
import pytest
import torch
import torch.distributed as dist
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from warm_ranks import Ranks, once

from autograder.fabric.sim.delays import Delays

TESTS = Path(__file__).parent.parent
SOLUTIONS = TESTS.parent / "solutions"
# Schedules for each program, over all world sizes.
SCHEDULES = [pytest.param(24, id="some"), pytest.param(201, id="many", marks=pytest.mark.thorough)]
RIGHT = [
    (problem, path)
    for problem in ("collectives", "data_parallel")
    for path in [None, *sorted((TESTS / "unusual" / problem).glob("*.py"))]
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


def collectives(rank, n, name, elements):
    """All eight functions, once; values are checked."""
    student = sys.modules[name]
    everybody = [torch.arange(elements, dtype=torch.float64) * (r + 1) + r for r in range(n)]
    total, own, last = sum(everybody), everybody[rank], n - 1

    x = own.clone()
    student.broadcast(x, last)
    assert torch.equal(x, everybody[last])
    student.scatter(x, [2 * part for part in everybody] if rank == 1 % n else None, 1 % n)
    assert torch.equal(x, 2 * own)
    parts = [torch.empty_like(own) for _ in everybody] if rank == last else None
    student.gather(own.clone(), parts, last)
    assert rank != last or all(map(torch.equal, parts, everybody))
    x = own.clone()
    student.reduce(x, 0)
    assert torch.allclose(x, total if rank == 0 else own)
    x = own.clone()
    student.all_reduce(x)
    assert torch.allclose(x, total)
    whole = torch.empty(n * elements, dtype=torch.float64)
    student.all_gather(whole, own.clone())
    assert torch.equal(whole, torch.cat(everybody))
    piece = torch.empty(elements, dtype=torch.float64)
    student.reduce_scatter(piece, torch.cat([own + k for k in range(n)]))
    assert torch.allclose(piece, total + n * rank)
    student.all_to_all(whole, torch.cat([own + k for k in range(n)]))
    assert torch.equal(whole, torch.cat(everybody) + rank)


def data_parallel(rank, n, name, elements):
    """Each way of averaging gradients, two steps of the wrapper; ranks must end with equal gradients."""
    student = sys.modules[name]
    torch.manual_seed(rank)
    for average in (student.average_gradients, student.average_gradients_flat):
        model = torch.nn.Linear(4, 3)
        student.broadcast_parameters(model)
        model(torch.randn(6, 4)).square().sum().backward()
        average(model)
        assert_equal_gradients(model, n)
    model = torch.nn.Sequential(torch.nn.Linear(4, 5), torch.nn.ReLU(), torch.nn.Linear(5, 3))
    wrapped = student.DistributedDataParallel(model, bucket_size_mb=1e-4)
    for _ in range(2):
        model.zero_grad()
        wrapped(torch.randn(6, 4)).square().sum().backward()
        wrapped.finish_gradient_synchronization()
        assert_equal_gradients(model, n)


def assert_equal_gradients(model, n):
    flat = torch.cat([parameter.grad.flatten() for parameter in model.parameters()])
    everybody = [torch.empty_like(flat) for _ in range(n)]
    dist.all_gather(everybody, flat)
    assert all(torch.allclose(flat, other) for other in everybody)


EXERCISES = {"collectives": collectives, "data_parallel": data_parallel}


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
                assert outcome.results == [None] * n

            check()


@pytest.mark.parametrize("file", MISSING_WAITS)
def test_missing_waits_are_caught_every_time(file, tmp_path):
    problem = file.split("/")[0]
    name = submission(tmp_path, problem, TESTS / "mistakes" / file)
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

    from autograder.fabric.sim import clock

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
