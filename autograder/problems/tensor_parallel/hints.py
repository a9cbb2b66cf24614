"""Recognises a wrong result or gradient of problem 4 by what it is: the quickest way to the cause."""

from __future__ import annotations

from collections.abc import Iterator

import torch
import torch.nn.functional as F

from autograder.checks.expected import Expected
from autograder.checks.hints import first_hint
from autograder.cluster.outcome import RankOutcome
from autograder.problems.tensor_parallel.examples import FLAGS, BothWays, Model, Region
from autograder.problems.tensor_parallel.expected import STATES, Passes, Traffic, sliced, spread, unsharded
from autograder.problems.tensor_parallel.messages import X_GRADIENT, Y, gradient, kind_and_call

REDUCE_SCATTER = "a reduce-scatter sums and leaves each rank its slice; an all-reduce and a cut send twice the bytes"
PARTIAL = "this is this rank's part of the gradient alone: backward has to sum the parts of all ranks ({how})"


class Evidence:
    """A wrong tensor: whose it is, what it is, and what it should be."""

    def __init__(self, example: BothWays, name: str, rank: RankOutcome, expected: Expected) -> None:
        self.example, self.rank = example, rank
        self.group, self.member = example.place(rank.rank)
        self.kind, call = kind_and_call(name)
        self.call = call or 0
        self.got, self.expected = rank.tensors[name].double(), expected.tensor().double()
        self.n = example.size

    @property
    def passes(self) -> Passes:
        """What goes in and has to come out, in this rank's group."""
        return self.example.passes[self.group]

    def is_close_to(self, values: torch.Tensor) -> bool:
        """Whether these are the values; False for nothing, or all zeros, which are close to too much."""
        values = values.double()
        fits = values.shape == self.got.shape and bool(torch.count_nonzero(values))
        return fits and torch.allclose(self.got, values, rtol=1e-5, atol=1e-9)


def hints_for(example: BothWays, name: str, rank: RankOutcome, expected: Expected) -> tuple[str, ...]:
    """The first explanation that fits, if any; and what is special about the smallest example that fails."""
    evidence = Evidence(example, name, rank, expected)
    looks = [_region_gradient] if isinstance(example, Region) else [_bias, _gelu, _model_gradient]
    hint = first_hint(*(look(evidence) for look in (*looks, _times, _order, _zeros)))
    return (*hint, *_only_in_groups(evidence))


def _only_in_groups(e: Evidence) -> Iterator[str]:
    if e.example.mesh:
        yield (
            "a group of some ranks: is it passed to every collective, and is the rank the one in the group, "
            "dist.get_rank(group)?"
        )


def _region_gradient(e: Evidence) -> Iterator[str]:
    _, _, upstream_state, state = STATES[e.example.task]
    if e.kind != X_GRADIENT or upstream_state != "partial" or e.n == 1:
        return
    alone = spread(state, e.passes.upstreams[e.call][e.member], e.n)[e.member]
    if e.is_close_to(alone):
        yield PARTIAL.format(how="a reduce-scatter" if state == "parallel" else "an all-reduce")
    if e.is_close_to(e.expected / e.n):
        yield "this is the average over the ranks, where their sum is expected"


def _model_gradient(e: Evidence) -> Iterator[str]:
    example = e.example
    if e.kind != X_GRADIENT or not isinstance(example, Model) or example.task == "RowParallelLinear":
        return
    parameters, xs, upstreams = example.whole(e.group)
    alone = unsharded(example.task, parameters, xs, upstreams, only=(e.member, e.n)).gradients[e.call]
    if e.is_close_to(alone):
        yield PARTIAL.format(how="an all-reduce, where x enters")


def _times(e: Evidence) -> Iterator[str]:
    """The same values, too large or too small by the number of ranks."""
    if e.n == 1:
        return
    if e.kind == Y and e.is_close_to(e.expected * e.n):
        yield f"forward: this is {e.n} times too large: equal copies were summed"
    if e.kind != Y and e.is_close_to(e.expected * e.n):
        yield (
            f"this is {e.n} times too large: the gradient that came back is whole, the same on every rank, and summing "
            "it counts it once for each of them"
        )
    if e.is_close_to(e.expected / e.n):
        yield f"this is 1/n of what it should be, with n = {e.n} ranks"


def _order(e: Evidence) -> Iterator[str]:
    """The right columns, elsewhere."""
    if e.got.dim() and e.got.shape == e.expected.shape and e.got.numel():
        ours, theirs = (t.reshape(-1, t.shape[-1]).t() for t in (e.expected, e.got))
        if sorted(map(tuple, ours.tolist())) == sorted(map(tuple, theirs.tolist())):
            yield "these are the right columns in another order: rank r's slice is slice r, and slices lie side by side"


def _zeros(e: Evidence) -> Iterator[str]:
    """Right where this rank's slice is, zero elsewhere; or zero on the whole."""
    if e.kind == X_GRADIENT and e.n > 1 and e.got.dim() and e.got.shape[-1] % e.n == 0:
        slices = zip(sliced(e.got, -1, e.n), sliced(e.expected, -1, e.n), strict=True)
        held = [
            torch.allclose(got, expected) if m == e.member else not got.any()
            for m, (got, expected) in enumerate(slices)
        ]
        if all(held):
            yield "only this rank's own slice is there, the others are zero: backward is an all-gather of the slices"
    if e.got.numel() and not torch.count_nonzero(e.got):
        yield "it is all zeros"


def _bias(e: Evidence) -> Iterator[str]:
    """The bias counted not once."""
    slices = e.passes.parameters.get("fc2.bias" if e.example.task == "ParallelMLP" else "bias")
    if slices is None:
        return
    bias = slices[e.member]
    if e.kind.endswith(gradient("bias")) and e.is_close_to(e.expected / e.n):
        yield f"the bias gets 1/n of its gradient (n = {e.n}): it is added whole, once, after the sum"
    if e.kind == Y and e.got.shape[-1] == bias.numel():
        for times in (0, *range(2, e.n + 1)):
            if e.is_close_to(e.expected + (times - 1) * bias):
                counts = f"counts {times} times" if times else "is not added"
                yield f"the bias {counts}: it is added once, after the sum"


def _gelu(e: Evidence) -> Iterator[str]:
    """gelu in another place, or another one."""
    example = e.example
    if e.kind != Y or not isinstance(example, Model) or example.task in FLAGS:
        return
    parameters, xs, _ = example.whole(e.group)
    x, given = xs[e.call], list(parameters.items())
    if example.task == "ParallelMLP":
        zero = torch.zeros((), dtype=torch.float64)
        w1, b1, w2, b2 = (parameters.get(name, zero) for name in ("fc1.weight", "fc1.bias", "fc2.weight", "fc2.bias"))
        hidden = x @ w1 + b1
        if e.is_close_to(F.gelu(hidden @ w2 + b2)):
            yield "gelu comes after the sum: it belongs between the two layers"
        if e.is_close_to(hidden @ w2 + b2):
            yield "there is no gelu between the two layers"
        tanh = F.gelu(hidden, approximate="tanh") @ w2 + b2
    else:
        for _, weight in given[:-1]:
            x = F.gelu(x @ weight)
        if e.is_close_to(x @ given[-1][1]):
            yield "gelu is missing after the last layer"
        tanh = xs[e.call]
        for _, weight in given:
            tanh = F.gelu(tanh @ weight, approximate="tanh")
    if tanh.shape == e.got.shape and torch.allclose(e.got, tanh, rtol=1e-9):
        yield "this is what gelu's tanh approximation gives: gelu here is the exact one"


def of_operations(example: Model, seen: Traffic, needed: Traffic, phase: str) -> Iterator[str]:
    """What kind of operation is too many, and what that usually means."""
    more = [kind for kind in seen if seen[kind][0] > needed.get(kind, (0, 0))[0]]
    if "all_reduce" in more and "reduce_scatter" in needed:
        yield REDUCE_SCATTER
    if "all_reduce" in more and phase == "backward" and not example.requires_grad:
        yield "x requires no gradient: there is no need of an all-reduce for it"
    if "all_gather" in more and "all_reduce" in needed and "all_reduce" not in seen:
        yield (
            "an all-gather hands every rank all terms, rather than add them up on the way: more bytes to send and keep"
        )
    if "all_gather" in more:
        yield "an all-gather makes a whole weight, or a whole activation, of what can stay in slices"
    if not more and any(seen[kind] != needed.get(kind) for kind in seen):
        yield "as many operations as needed, on tensors of other sizes"
