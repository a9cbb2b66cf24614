"""Every kind of example that a check names is tried in every grading, whatever the seed and the budget."""

from __future__ import annotations

from collections import Counter

import pytest

from autograder.grading.assignment import PlannedCheck, load
from autograder.grading.coverage import shares
from autograder.grading.examiner import Examiner, Record
from autograder.grading.registry import checks_of
from autograder.report.model import Setting

KINDS = {"ops": 38, "dtypes": 10, "sizes": 10, "lockstep": 12}


@pytest.mark.parametrize("world_sizes", [[1, 3, 4], [1, 2, 3, 4, 5], [4], [1]])
@pytest.mark.parametrize("kinds", [2, 10, 38])
@pytest.mark.parametrize("count", [1, 5, 8, 30])
def test_no_kind_is_left_out(kinds: int, count: int, world_sizes: list[int]) -> None:
    for seed in range(20):
        shared = {n: shares(kinds, count, n, world_sizes, seed) for n in world_sizes}
        several = [n for n in world_sizes if n > 1] or world_sizes
        tried = sum((shared[n] for n in several), Counter())
        assert set(tried) == set(range(kinds))
        assert all(share.total() >= count for share in shared.values())


def test_another_seed_deals_them_out_otherwise() -> None:
    assert len({tuple(shares(38, 8, 3, [1, 3, 4], seed)) for seed in range(10)}) == 10


@pytest.mark.parametrize(
    "planned",
    [check for check in load().plan() if check.problem == "collectives" and check.name in KINDS],
    ids=lambda check: check.id,
)
def test_what_is_run_is_of_every_kind(planned: PlannedCheck, monkeypatch: pytest.MonkeyPatch) -> None:
    check = next(check for check in checks_of("collectives") if check.id == planned.id)
    tried = []
    monkeypatch.setattr(Examiner, "_try", lambda self, check, example, number, record: tried.append(example))
    examiner, record = Examiner(load(), Setting(submission="", seed=3), None, None), Record(planned, check)
    for world_size in planned.world_sizes:
        examiner._explore(check, planned, world_size, record)
    there = [example for example in tried if example.world_size > 1]
    if planned.name == "sizes":
        for world_size in {example.world_size for example in there}:
            assert len({e.shape for e in there if e.world_size == world_size}) >= 6
        assert {(), (0,), (0, 3), (2, 0)} <= {example.shape for example in there}
    else:
        assert len({(example.op, example.dtype) for example in there}) == KINDS[planned.name]
    assert sum(example.values == "random" for example in there) > len(there) / 2
