"""Virtual time equals the closed formulas."""

import math

import algorithms
import pytest
import torch
import torch.distributed as dist
from warm_ranks import Ranks, once

from autograder.simulator import rank_side, topology

WORLD_SIZES = (2, 3, 4, 5, 8, 16, 64)
ELEMENTS = 960  # divides by every world size
BYTES = 8 * ELEMENTS


def slowest(n, name):
    """Latency and bandwidth of the slowest link among `n` ranks."""
    wires = topology.load(name)
    link = wires.link(0, n - 1)
    return link.latency, link.bandwidth


def tree_seconds(n, name, nbytes):
    """When the last rank has it: a rank's own sends occupy its port one after the other."""
    wires = topology.load(name)
    has = [0.0] + [math.inf] * (n - 1)
    free = list(has)
    distance = 1
    while distance < n:
        for rank in range(distance, min(2 * distance, n)):
            parent, link = rank - distance, wires.link(rank - distance, rank)
            free[parent] = max(free[parent], has[parent]) + nbytes / link.bandwidth
            has[rank] = free[rank] = free[parent] + link.latency
        distance *= 2
    return max(max(has), max(free))


@pytest.mark.parametrize("name", topology.names())
@pytest.mark.parametrize("n", WORLD_SIZES)
def test_algorithms(n, name):
    a, b = slowest(n, name)
    wires = topology.load(name)
    with Ranks(n, name) as ranks:
        ring = ranks.run(algorithms.ring_all_reduce, ELEMENTS)
        assert ring.verdict is None, str(ring.verdict)
        assert ring.seconds == pytest.approx(2 * (n - 1) * (a + BYTES / n / b), rel=1e-9)
        assert {report.bytes_sent for report in ring.reports} == {2 * (n - 1) * BYTES // n}

        tree = ranks.run(algorithms.tree_broadcast, ELEMENTS)
        assert tree.verdict is None
        assert tree.seconds == pytest.approx(tree_seconds(n, name, BYTES), rel=1e-9)
        if n & (n - 1) == 0 and n <= 8:
            assert tree.seconds == pytest.approx(math.log2(n) * (a + BYTES / b), rel=1e-9)

        direct = ranks.run(algorithms.direct_gather, ELEMENTS)
        assert direct.verdict is None
        inward = sum(BYTES / wires.link(rank, 0).bandwidth for rank in range(1, n))
        assert direct.seconds == pytest.approx(inward + a, rel=1e-9)

        pairwise = ranks.run(algorithms.pairwise_all_to_all, ELEMENTS)
        assert pairwise.verdict is None
        assert pairwise.seconds == pytest.approx((n - 1) * (a + BYTES / b), rel=1e-9)


@pytest.mark.parametrize("name", topology.names())
@pytest.mark.parametrize("n", (1, 2, 3, 8, 16))
def test_built_in_collectives(n, name):
    a, b = slowest(n, name)
    rounds = math.ceil(math.log2(n))
    expected = {
        "all_reduce": 2 * (n - 1) * (a + BYTES / n / b),
        "all_gather": (n - 1) * (a + BYTES / b),
        "reduce_scatter": (n - 1) * (a + BYTES / b),
        "all_to_all": (n - 1) * (a + BYTES / b),
        "gather": (a + (n - 1) * BYTES / b) if n > 1 else 0,
        "scatter": (a + (n - 1) * BYTES / b) if n > 1 else 0,
        "broadcast": rounds * (a + BYTES / b),
        "reduce": rounds * (a + BYTES / b),
        "barrier": rounds * a,
    }
    with Ranks(n, name) as ranks:
        for collective, seconds in expected.items():
            outcome = ranks.run(algorithms.built_in, collective, ELEMENTS)
            assert outcome.verdict is None, str(outcome.verdict)
            assert outcome.seconds == pytest.approx(seconds, rel=1e-9), collective
            assert len({report.seconds for report in outcome.reports}) == 1


def two_at_once(rank, n):
    """Rank 0 sends to 1 and 2 at once; rank 3 sends to 1 as well."""
    x, y = torch.zeros(1000, dtype=torch.uint8), torch.zeros(1000, dtype=torch.uint8)
    if rank == 0:
        works = [dist.isend(x, 1), dist.isend(x, 2)]
    elif rank == 1:
        works = [dist.irecv(x, 0), dist.irecv(y, 3)]
    elif rank == 2:
        works = [dist.irecv(x, 0)]
    else:
        works = [dist.isend(x, 1)]
    for work in works:
        work.wait()
    return rank_side.clock().now


def test_ports_carry_one_transfer_at_a_time():
    a, b = slowest(4, "laptop")
    transfer = 1000 / b
    assert once(two_at_once, 4).results == pytest.approx(
        [2 * transfer, 2 * transfer + a, 2 * transfer + a, 2 * transfer]
    )


def overlapped(rank, n):
    """Two collectives and compute time, overlapped: the wire is shared, the compute is not."""
    x, y = torch.zeros(1000), torch.zeros(1000)
    works = [dist.all_reduce(x, async_op=True), dist.all_reduce(y, async_op=True)]
    rank_side.clock().spend(1.0)
    for work in works:
        work.wait()
    return rank_side.clock().now


def test_compute_hides_communication():
    assert once(overlapped, 3).results == [1.0] * 3
    a, b = slowest(3, "laptop")
    ends = [operation.end for operation in once(overlapped, 3).reports[0].operations]
    assert ends == pytest.approx([2 * 2 * (a + 4000 / 3 / b), 2 * 2 * 2 * (a + 4000 / 3 / b)])


def device(rank, n):
    import time

    clock = rank_side.clock()
    clock.launch(3.0)
    clock.launch(2.0, stream="copies")
    launched = time.perf_counter()
    clock.synchronize("copies")
    copied = time.monotonic()
    torch.cuda.synchronize()
    computed = time.time_ns()
    time.sleep(0.5)
    return launched, copied, computed, time.time()


def test_devices_work_beside_the_rank():
    assert once(device, 1).results == [(1.0, 3.0, 4_000_000_000, 4.5)]


def stage(rank, n):
    """Three micro-batches through two stages."""
    x = torch.zeros(1000)
    for _ in range(3):
        if rank:
            dist.recv(x, rank - 1)
        rank_side.clock().spend(1.0)
        if rank + 1 < n:
            dist.send(x, rank + 1)


def test_a_pipeline_fills():
    a, b = slowest(2, "laptop")
    # A send waits for its receive: the first stage's second batch goes when the second stage is free again.
    assert once(stage, 2).seconds == pytest.approx(1 + 3 * (1 + a + 4000 / b), rel=1e-9)
