"""What data parallelism means, in one process: averages of the ranks' gradients, and training that uses them.

The ranks' shards are run one after the other on one model, so that batch norm sees the rows that it sees on a rank.
Nothing here communicates.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence

import msgspec
import numpy as np
import torch

from autograder.checks.expected import Expected
from autograder.problems.common.rank_side.layers import Model
from autograder.problems.common.rank_side.training import OPTIMIZERS, load, loss
from autograder.problems.data_parallel.examples_training import Forward, Training
from autograder.problems.data_parallel.replicas import Replicas, Tensors

# Relative and absolute: what rounding in other orders may come to over a few steps.
TOLERANCES = {"float64": (1e-9, 1e-10), "float32": (1e-3, 1e-5)}


def average(gradients: Sequence[torch.Tensor | None]) -> Expected | None:
    """The mean over the ranks, where a missing gradient counts as zeros; None if all are missing.

    The bound is that of n additions and a division, each rounded once, in any order, and the same again for ours.
    """
    there = [gradient for gradient in gradients if gradient is not None]
    if not there:
        return None
    n, parts = len(gradients), np.stack([gradient.double().numpy() for gradient in there])
    bound = (n + 2) * torch.finfo(there[0].dtype).eps * np.abs(parts).sum(axis=0) / n
    return Expected(parts.sum(axis=0) / n, there[0].dtype, bound)


class Step(msgspec.Struct, frozen=True):
    """One step of training.

    `local` are each member's gradients before the averaging, all micro-batches added up, and `last` those of its last
    micro-batch alone; what is missing is not in there. `parameters` are those after the optimizer's step.
    """

    local: tuple[Tensors, ...]
    last: tuple[Tensors, ...]
    mean: Tensors
    parameters: Tensors


@functools.lru_cache(maxsize=4)
def train(example: Training) -> tuple[Step, ...]:
    """The steps of the example, from the state of the group's first rank."""
    model = load(example.model, example.states[0])
    trained = {name: p for name, p in model.named_parameters() if p.requires_grad}
    optimizer = OPTIMIZERS[example.optimizer](trained.values())
    steps = []
    for step in range(len(example.rows)):
        runs = [_member(example, model, trained, step, member) for member in range(example.size)]
        local, last = tuple(run[0] for run in runs), tuple(run[1] for run in runs)
        mean = {name: _mean(name, local) for name in trained if any(name in own for own in local)}
        for name, parameter in trained.items():
            parameter.grad = mean[name].clone() if name in mean else torch.zeros_like(parameter)
        optimizer.step()
        after = {name: parameter.detach().clone() for name, parameter in model.named_parameters()}
        steps.append(Step(local, last, mean, after))
    return tuple(steps)


def _member(
    example: Training, model: Model, trained: Mapping[str, torch.nn.Parameter], step: int, member: int
) -> tuple[Tensors, Tensors]:
    """A member's gradients in a step: of all its micro-batches, and of the last alone."""
    total: Tensors = {}
    own: Tensors = {}
    for micro, rows in enumerate(example.rows[step]):
        model.zero_grad()
        inputs, targets = example.share(step, micro, member)
        value = loss(model(inputs, example.skipped(step, micro, member)), targets, rows) * example.size
        if value.requires_grad:
            torch.autograd.backward(value)
        own = {name: p.grad.clone() for name, p in trained.items() if p.grad is not None}
        total |= {name: total[name] + grad if name in total else grad for name, grad in own.items()}
    return total, own


def _mean(name: str, local: Sequence[Tensors]) -> torch.Tensor:
    there = [own[name] for own in local if name in own]
    return torch.stack(there).sum(0) / len(local)


def forward(example: Forward, member: int, skipped: Sequence[int]) -> torch.Tensor:
    """What the model itself returns for a member's rows."""
    with torch.no_grad():
        output: torch.Tensor = load(example.model, example.states[0])(example.inputs(member), skipped)
    return output


def near(example: Replicas, tensor: torch.Tensor) -> Expected:
    """These values, within what rounding may come to in the example's model."""
    dtypes = {layer.dtype for layer in example.layers}
    relative, absolute = TOLERANCES["float32" if "float32" in dtypes else "float64"]
    values = tensor.detach().double().numpy()
    return Expected(values, tensor.dtype, relative * np.abs(values) + absolute)


class Gradient(msgspec.Struct, frozen=True, kw_only=True):
    """A parameter's gradient as it came back under `key`, and what is known of it.

    `own` are the members' gradients before the averaging (None: missing) and `last` those of the last micro-batch;
    `others` are other averages that it might be taken for, with words for them. `expected` is None if no rank has one.
    """

    name: str
    key: str
    when: str
    own: tuple[torch.Tensor | None, ...]
    expected: Expected | None
    last: tuple[torch.Tensor | None, ...] = ()
    others: tuple[tuple[str, torch.Tensor], ...] = ()
