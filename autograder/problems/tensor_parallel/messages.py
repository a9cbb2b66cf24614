"""What the grader and rank.py say to each other: arguments and reply of each function there, and names of tensors."""

from __future__ import annotations

import msgspec
from torch import Tensor

from autograder.protocol.operation import Count

Groups = tuple[tuple[int, ...], ...] | None  # groups of ranks side by side; None: the whole world
Shapes = dict[str, list[Count]]  # of parameters, by name

# What tensors are, before the calls or after backward; each has the number of a call beside it.
X, UPSTREAM, Y, X_GRADIENT, SIBLING_GRADIENT = "x", "upstream", "y", "x.grad", "sibling.grad"
EXPANDED = "expanded"  # as a layout of upstream: what y.sum() sends, one element seen many times


class BothWays(msgspec.Struct, frozen=True, kw_only=True):
    """Forward `calls` times, then backward through all of it, of the region, network or module `task`.

    `layout` is that of x in memory, `upstream` that of the gradient that comes back.
    """

    task: str
    groups: Groups
    calls: int
    layout: str
    upstream: str
    requires_grad: bool


class FunctionArguments(msgspec.Struct, frozen=True):
    """A region, or the network. `indivisible` are features that it is to refuse; 0: it is not asked."""

    both_ways: BothWays
    indivisible: int


class ModuleArguments(msgspec.Struct, frozen=True):
    """A module, made with `sizes` and `keywords`."""

    both_ways: BothWays
    sizes: tuple[int, ...]
    keywords: dict[str, bool]


class BothWaysReply(msgspec.Struct, frozen=True):
    """The operations made forward and backward, whether features were refused, a module's parameters.

    A module with other parameters than its share says nothing but their shapes.
    """

    forward: Count = 0
    backward: Count = 0
    refuses: bool = False
    parameters: Shapes = {}


class StartArguments(msgspec.Struct, frozen=True, kw_only=True):
    """Makes two modules of class `task` from one seed. `indivisible` are sizes that it is to refuse, if any."""

    task: str
    groups: Groups
    seed: int
    sizes: tuple[int, int]
    bias: bool
    indivisible: tuple[int, int] | None


class StartReply(msgspec.Struct, frozen=True):
    """The two modules' parameters, and the elements that the largest one of each keeps in memory.

    `largest` are the elements of the largest tensor that was made for them.
    """

    parameters: tuple[Shapes, Shapes]
    kept: tuple[Count, Count]
    largest: Count
    refuses: bool = False


def of_call(kind: str, call: int) -> str:
    """A tensor of one call: "x/0", "x.grad/1"."""
    return f"{kind}/{call}"


def kind_and_call(tensor: str) -> tuple[str, int | None]:
    """What `of_call` was told; a parameter's gradient is of all calls together."""
    kind, _, call = tensor.partition("/")
    return kind, int(call) if call else None


def parameter(name: str) -> str:
    """A parameter that a rank is given: "parameter/fc1.weight"."""
    return f"{_PARAMETER}{name}"


def parameters(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """All parameters among the tensors that a rank is given, by name."""
    names = sorted(name for name in tensors if name.startswith(_PARAMETER))
    return {name.removeprefix(_PARAMETER): tensors[name] for name in names}


def gradient(name: str) -> str:
    """A parameter's gradient: "fc1.weight.grad"."""
    return f"{name}.grad"


def started(module: int, name: str) -> str:
    """A parameter of one of two modules just made: "0/weight"."""
    return f"{module}/{name}"


_PARAMETER = "parameter/"
