"""What each collective means, in one process and in numpy: the arguments of all ranks before, and after.

Nothing here communicates. Moves copy bits; reductions of floats are computed in float64, with a bound on how far a
right implementation may be off; reductions of integers wrap as the integers themselves do and are exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import torch

from autograder.checks.expected import Expected, moved, same
from autograder.problems.collectives.messages import argument_and_index, entry

Arguments = dict[str, torch.Tensor]

_REDUCE = {"SUM": np.add, "PRODUCT": np.multiply, "MIN": np.minimum, "MAX": np.maximum}


def reduced(parts: list[torch.Tensor], op: str) -> Expected:
    """The element-wise reduction of one tensor a rank."""
    dtype = parts[0].dtype
    if dtype.is_floating_point:
        return _reduced_floats([p.double().numpy() for p in parts], op, dtype)
    arrays = [p.numpy() for p in parts]
    with np.errstate(over="ignore"):
        result = _REDUCE[op].reduce(arrays).astype(arrays[0].dtype)
    return same(torch.from_numpy(np.asarray(result)))


def _reduced_floats(arrays: list[np.ndarray], op: str, dtype: torch.dtype) -> Expected:
    """Reductions of floats; the rounding of sums and products depends on the order that an implementation takes.

    MIN and MAX round nothing (-0.0 is 0.0). Any order of n-1 additions is off by at most
    (n-1) u sum|x| / (1 - (n-1) u), u = eps/2 (Higham, Accuracy and Stability of Numerical Algorithms, 4.2); products
    by as much of |product|. AVG may divide before or after: one more rounding for each term, or one of the sum. One u
    more covers float64's own error here, and each rounding to a subnormal adds half of the smallest one, however small
    the rest is.
    """
    if op in ("MIN", "MAX"):
        values = np.asarray(_REDUCE[op].reduce(arrays))
        return Expected(values, dtype, np.zeros_like(values))
    n, info = len(arrays), torch.finfo(dtype)
    roundings = n + 1
    u = info.eps / 2
    relative = roundings * u / (1 - roundings * u)
    absolute = roundings * info.smallest_normal * info.eps
    if op == "PRODUCT":
        values = np.multiply.reduce(arrays)
        scale = np.abs(values)
        # A factor that is rounded to a subnormal is multiplied by the rest.
        absolute *= max(1.0, *(float(np.max(np.abs(a), initial=0)) for a in arrays)) ** n
    else:
        divisor = n if op == "AVG" else 1
        values, scale = np.add.reduce(arrays) / divisor, np.add.reduce([np.abs(a) for a in arrays]) / divisor
    return Expected(np.asarray(values), dtype, np.asarray(relative * scale + absolute))


def broadcast(before: list[Arguments], *, root: int, **_: object) -> list[dict[str, Expected]]:
    """Every rank's tensor becomes the root's."""
    return [{"tensor": same(before[root]["tensor"])} for _ in before]


def scatter(before: list[Arguments], *, root: int, **_: object) -> list[dict[str, Expected]]:
    """Member m's tensor becomes entry m of the root's list, which stays."""
    return [
        {"tensor": same(before[root][entry("scatter_list", m)]), **_kept(arguments, "scatter_list")}
        for m, arguments in enumerate(before)
    ]


def gather(before: list[Arguments], *, root: int, **_: object) -> list[dict[str, Expected]]:
    """Entry m of the root's list becomes member m's tensor; the tensors stay."""
    full = {entry("gather_list", m): same(arguments["tensor"]) for m, arguments in enumerate(before)}
    return [{**_kept(arguments, "tensor"), **(full if m == root else {})} for m, arguments in enumerate(before)]


def reduce(before: list[Arguments], *, root: int, op: str, **_: object) -> list[dict[str, Expected]]:
    """The root's tensor becomes the reduction; the others' stay."""
    result = reduced([arguments["tensor"] for arguments in before], op)
    return [{"tensor": result} if m == root else _kept(arguments, "tensor") for m, arguments in enumerate(before)]


def all_gather(before: list[Arguments], **_: object) -> list[dict[str, Expected]]:
    """Every output becomes all inputs, one after another."""
    inputs = [arguments["input"] for arguments in before]
    return [{"output": moved(inputs, tuple(a["output"].shape)), **_kept(a, "input")} for a in before]


def reduce_scatter(before: list[Arguments], *, op: str, **_: object) -> list[dict[str, Expected]]:
    """Member m's output becomes block m of the reduced inputs."""
    results = []
    for m, arguments in enumerate(before):
        shape = arguments["output"].shape
        block = slice(m * math.prod(shape), (m + 1) * math.prod(shape))
        parts = [a["input"].reshape(-1)[block].reshape(shape) for a in before]
        results.append({"output": reduced(parts, op), **_kept(arguments, "input")})
    return results


def all_reduce(before: list[Arguments], *, op: str, **_: object) -> list[dict[str, Expected]]:
    """Every rank's tensor becomes the reduction."""
    result = reduced([arguments["tensor"] for arguments in before], op)
    return [{"tensor": result} for _ in before]


def all_to_all(before: list[Arguments], *, splits: list[list[int]], **_: object) -> list[dict[str, Expected]]:
    """Member m's output becomes the blocks that each member has for it; `splits[i][m]` rows from i to m."""
    results = []
    for m, arguments in enumerate(before):
        parts = []
        for i, sender in enumerate(before):
            start = sum(splits[i][:m])
            parts.append(sender["input"][start : start + splits[i][m]])
        results.append({"output": moved(parts, tuple(arguments["output"].shape)), **_kept(arguments, "input")})
    return results


def _kept(arguments: Arguments, argument: str) -> dict[str, Expected]:
    """The tensors of that argument, which the call must not change."""
    return {name: same(tensor) for name, tensor in arguments.items() if argument_and_index(name)[0] == argument}


MEANINGS: dict[str, Callable[..., list[dict[str, Expected]]]] = {
    f.__name__: f for f in (broadcast, scatter, gather, reduce, all_gather, reduce_scatter, all_reduce, all_to_all)
}
