"""The single-process meaning of data parallelism, held against training on the whole batch; and how buckets add up."""

from __future__ import annotations

import itertools

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.problems.common.rank_side.layers import OF_MODELS, Model
from autograder.problems.common.rank_side.training import OPTIMIZERS, load, loss
from autograder.problems.data_parallel.examples_training import Training, trainings
from autograder.problems.data_parallel.expected import average, train
from autograder.problems.data_parallel.judge_buckets import fewest_buckets, finish_bound
from autograder.problems.data_parallel.replicas import layers

# Batch norm normalises each shard by itself, branches are left out by some ranks only: neither has a whole batch.
WHOLE = [kind for kind in OF_MODELS if kind != "batch_norm"]


def whole_batch(example: Training) -> list[dict[str, torch.Tensor]]:
    """Parameters after each step of one process that sees all rows of a micro-batch at once."""
    model = load(Model(example.layers), example.states[0])
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = OPTIMIZERS[example.optimizer](trained)
    after = []
    for step, micros in enumerate(example.rows):
        model.zero_grad()
        for micro, rows in enumerate(micros):
            shares = [example.share(step, micro, member) for member in range(example.size)]
            inputs, targets = (torch.cat(parts) for parts in zip(*shares, strict=True))
            value = loss(model(inputs), targets, rows)
            if value.requires_grad:
                value.backward()
        for parameter in trained:
            parameter.grad = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
        optimizer.step()
        after.append({name: parameter.detach().clone() for name, parameter in model.named_parameters()})
    return after


@settings(max_examples=60, deadline=None, database=None, derandomize=True)
@given(st.integers(1, 4).flatmap(lambda n: trainings(n, layers(WHOLE, (1, 5), frozen=True), micros=(1, 3))))
def test_shards_train_like_the_whole_batch(example: Training) -> None:
    for step, whole in zip(train(example), whole_batch(example), strict=True):
        for name, parameter in step.parameters.items():
            torch.testing.assert_close(parameter, whole[name], rtol=1e-9, atol=1e-11)


def test_average_counts_the_missing_as_zeros() -> None:
    expected = average([torch.tensor([3.0, 6.0]), None, torch.tensor([6.0, -6.0])])
    assert expected is not None
    assert not expected.wrong(torch.tensor([3.0, 0.0])).any()
    assert expected.wrong(torch.tensor([4.5, 0.0])).tolist() == [True, False]
    assert average([None, None]) is None


@pytest.mark.parametrize("cap", [1, 3, 4, 7, 100])
def test_fewest_buckets_is_the_fewest(cap: int) -> None:
    for sizes in itertools.product([1, 2, 5], repeat=5):
        cuts = itertools.chain.from_iterable(itertools.combinations(range(1, 5), k) for k in range(5))
        runs = ([sizes[a:b] for a, b in itertools.pairwise([0, *cut, 5])] for cut in cuts)
        fitting = [cut for cut in runs if all(sum(run) <= cap or len(run) == 1 for run in cut)]
        assert fewest_buckets(sizes, cap) == min(len(cut) for cut in fitting)


@pytest.mark.parametrize(
    ("ready", "send", "bound"), [([10, 20, 30, 40], [10] * 4, 50), ([10, 20, 30, 40], [15] * 4, 70), ([5], [1], 6)]
)
def test_bound_is_the_chapters(ready: list[float], send: list[float], bound: float) -> None:
    assert finish_bound(ready, send) == bound
    assert bound == max(ready[k] + sum(send[k:]) for k in range(len(ready)))
