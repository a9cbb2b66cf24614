"""Examples of problem 4: a region, a network or a layer, forward and backward on every rank."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from hypothesis import strategies as st

from autograder.checks.example import Call, Description
from autograder.checks.placement import SideBySide
from autograder.checks.show import show, show_dtype
from autograder.problems.common.groups import meshes
from autograder.problems.common.rank_side.layouts import LAYOUTS
from autograder.problems.tensor_parallel import messages
from autograder.problems.tensor_parallel.expected import STATES, Passes, region, sliced, unsharded
from autograder.problems.tensor_parallel.messages import EXPANDED, UPSTREAM, FunctionArguments, ModuleArguments, X

# Each parameter's shape, and the dimension that is cut (None: every rank has all of it).
Shapes = dict[str, tuple[tuple[int, ...], int | None]]
FLAGS = {"ColumnParallelLinear": "gather_output", "RowParallelLinear": "input_is_parallel"}
LEADS = ((), (1,), (2,), (3,), (2, 3), (0,))


@dataclasses.dataclass(frozen=True)
class BothWays(SideBySide):
    """Forward `calls` times, then backward through all of it. `lead` is the shape of x without its last dimension.

    The other fields are those of BothWays in messages.py.
    """

    lead: tuple[int, ...] = ()
    layout: str = "contiguous"
    upstream: str = "contiguous"
    calls: int = 1
    requires_grad: bool = True

    @functools.cached_property
    def passes(self) -> tuple[Passes, ...]:
        """What goes in and what has to come out, by group."""
        return tuple(self._passes(group) for group in range(len(self.groups)))

    @property
    def indivisible(self) -> int:
        """Features that the ranks cannot share, for whoever has to refuse them; 0: nobody is asked."""
        return 0

    def _passes(self, group: int) -> Passes:
        raise NotImplementedError

    def call(self) -> Call:
        """Every rank gets its own slices."""
        tensors = tuple(self._tensors(*self.place(rank)) for rank in range(self.world_size))
        return Call("function", (FunctionArguments(self.asked, self.indivisible),) * self.world_size, tensors)

    @property
    def asked(self) -> messages.BothWays:
        """What every rank is asked, whatever the task."""
        return messages.BothWays(
            task=self.task,
            groups=self.mesh,
            calls=self.calls,
            layout=self.layout,
            upstream=self.upstream,
            requires_grad=self.requires_grad,
        )

    def _tensors(self, group: int, member: int) -> dict[str, torch.Tensor]:
        passes = self.passes[group]
        tensors = {messages.of_call(X, call): xs[member] for call, xs in enumerate(passes.xs)}
        if self.upstream != EXPANDED:
            tensors |= {messages.of_call(UPSTREAM, call): sent[member] for call, sent in enumerate(passes.upstreams)}
        return tensors | {messages.parameter(name): slices[member] for name, slices in passes.parameters.items()}

    def describe(self) -> Description:
        """The call in a student's words."""
        backward = "y.sum().backward()" if self.upstream == EXPANDED else "y.backward(upstream)"
        setting = [*self.setting(), f"x of shape {tuple(self.passes[0].xs[0][0].shape)}"]
        for what, layout in ((X, self.layout), (UPSTREAM, self.upstream)):
            if layout not in ("contiguous", "offset", EXPANDED):
                setting.append(f"{what} not contiguous ({layout})")
        if self.calls > 1:
            setting.append("two calls, then backward through both")
        if not self.requires_grad:
            setting.append("x requires no gradient")
        given = tuple(self._given(rank) for rank in range(self.world_size))
        return Description(f"y = {self._call()}; {backward}", ", ".join(setting), given)

    def _call(self) -> str:
        raise NotImplementedError

    def _given(self, rank: int) -> str:
        group, member = self.place(rank)
        passes = self.passes[group]
        which = [f"[{call}]" if self.calls > 1 else "" for call in range(self.calls)]
        given = [(f"{X}{i}", xs[member]) for i, xs in zip(which, passes.xs, strict=True)]
        if self.upstream != EXPANDED:
            given += [(f"{UPSTREAM}{i}", sent[member]) for i, sent in zip(which, passes.upstreams, strict=True)]
        given += [(name, slices[member]) for name, slices in passes.parameters.items()]
        return ", ".join(f"{title} {show(tensor)}" for title, tensor in given)


@dataclasses.dataclass(frozen=True)
class Region(BothWays):
    """One of the five regions. `share` are the features of one rank where they are cut."""

    share: int = 1
    dtype: torch.dtype = torch.float64
    values: str = "counting"

    def _passes(self, group: int) -> Passes:
        x_state, _, gradient_state, _ = STATES[self.task]
        xs, upstreams = [], []
        for call in range(self.calls):
            xs.append([self._fill(x_state, group, member, 2 * call) for member in range(self.size)])
            sent = [self._fill(gradient_state, group, member, 2 * call + 1) for member in range(self.size)]
            upstreams.append([torch.ones_like(u) for u in sent] if self.upstream == EXPANDED else sent)
        return region(self.task, xs, upstreams)

    def _fill(self, state: str, group: int, member: int, part: int) -> torch.Tensor:
        """Values that differ by group, argument and element, and by rank unless all ranks hold the same."""
        shape = (*self.lead, self.share if state == "parallel" else self.share * self.size)
        differs = 0 if state == "whole" else member
        if self.values == "counting":
            numbers = np.arange(math.prod(shape)) + 1 + 10 * differs + 100 * group + 50 * part
        else:
            numbers = _integers(math.prod(shape), 99, self.seed, group, differs, part)
        return torch.from_numpy(numbers).to(self.dtype).reshape(shape)

    @property
    def indivisible(self) -> int:
        """One feature too many, for the one region that has to refuse that."""
        return self.share * self.size + 1 if self.task == "scatter_to_region" and self.size > 1 else 0

    def _call(self) -> str:
        return f"{self.task}(x{', group=group' if self.mesh else ''})"

    def setting(self) -> list[str]:
        return [*super().setting(), show_dtype(self.dtype)]


@dataclasses.dataclass(frozen=True)
class Model(BothWays):
    """A network or a module, in float64. `sizes` are those of the whole: features from layer to layer.

    `flag` is what the module calls gather_output or input_is_parallel.
    """

    sizes: tuple[int, ...] = (1, 1)
    bias: bool = True
    flag: bool = True

    @property
    def is_module(self) -> bool:
        """Whether it is a class, made before it is called."""
        return self.task != "column_parallel_forward"

    def parameter_shapes(self) -> Shapes:
        """Those of the whole."""
        if not self.is_module:
            pairs = zip(self.sizes, self.sizes[1:], strict=False)
            return {f"weights.{i}": (pair, 1) for i, pair in enumerate(pairs)}
        inputs, outputs = self.sizes
        if self.task == "ParallelMLP":
            column = self._linear("fc1.", inputs, outputs, column=True)
            return column | self._linear("fc2.", outputs, inputs, column=False)
        return self._linear("", inputs, outputs, column=self.task == "ColumnParallelLinear")

    def _linear(self, prefix: str, inputs: int, outputs: int, column: bool) -> Shapes:
        shapes: Shapes = {f"{prefix}weight": ((inputs, outputs), 1 if column else 0)}
        if self.bias:
            shapes[f"{prefix}bias"] = ((outputs,), 0 if column else None)
        return shapes

    def slice_shapes(self) -> dict[str, list[int]]:
        """The shape of every parameter on one rank."""
        return {name: list(slices[0].shape) for name, slices in self.passes[0].parameters.items()}

    @property
    def x_is_parallel(self) -> bool:
        return self.task == "RowParallelLinear" and self.flag

    @property
    def y_is_parallel(self) -> bool:
        return self.task == "ColumnParallelLinear" and not self.flag

    @property
    def out_features(self) -> int:
        return self.sizes[0] if self.task == "ParallelMLP" else self.sizes[-1]

    def whole(self, group: int) -> tuple[dict[str, torch.Tensor], list[torch.Tensor], list[torch.Tensor]]:
        """Parameters, inputs and upstream gradients of the unsharded model."""
        # gelu bends near zero only; elsewhere whole numbers keep the figures short.
        scale = 1 if self.task in FLAGS else 10
        drawn = [(name, *shape) for name, shape in self.parameter_shapes().items()]
        parameters = {
            name: self._fill(shape, scale, group, 100 + number) for number, (name, shape, _) in enumerate(drawn)
        }
        xs = [self._fill((*self.lead, self.sizes[0]), scale, group, 2 * call) for call in range(self.calls)]
        shape = (*self.lead, self.out_features)
        ones = [torch.ones(shape, dtype=torch.float64)] * self.calls
        sent = [self._fill(shape, 1, group, 2 * call + 1) for call in range(self.calls)]
        return parameters, xs, ones if self.upstream == EXPANDED else sent

    def _fill(self, shape: Sequence[int], scale: int, group: int, part: int) -> torch.Tensor:
        numbers = _integers(math.prod(shape), 9, self.seed, group, part)
        return torch.from_numpy(numbers).double().div(scale).reshape(tuple(shape))

    def _passes(self, group: int) -> Passes:
        parameters, xs, upstreams = self.whole(group)
        cuts = {name: cut for name, (_, cut) in self.parameter_shapes().items()}
        whole = unsharded(self.task, parameters, xs, upstreams)
        n = self.size
        return Passes(
            xs=[sliced(x, -1 if self.x_is_parallel else None, n) for x in whole.xs],
            ys=[sliced(y, -1 if self.y_is_parallel else None, n) for y in whole.ys],
            upstreams=[sliced(u, -1 if self.y_is_parallel else None, n) for u in whole.upstreams],
            gradients=[sliced(g, -1 if self.x_is_parallel else None, n) for g in whole.gradients],
            parameters={name: sliced(p, cuts[name], n) for name, p in whole.parameters.items()},
            parameter_gradients={name: sliced(g, cuts[name], n) for name, g in whole.parameter_gradients.items()},
        )

    def call(self) -> Call:
        """Every rank gets its own slices."""
        call = super().call()
        if not self.is_module:
            return call
        asked = ModuleArguments(self.asked, self.sizes, self._keywords())
        return Call("module", (asked,) * self.world_size, call.tensors)

    def _keywords(self) -> dict[str, bool]:
        flag = {FLAGS[self.task]: self.flag} if self.task in FLAGS else {}
        return {"bias": self.bias, **flag}

    def _call(self) -> str:
        group = ", group=group" if self.mesh else ""
        if not self.is_module:
            return f"column_parallel_forward(x, weights{group}), layers {' -> '.join(map(str, self.sizes))}"
        keywords = "".join(f", {name}={value}" for name, value in self._keywords().items())
        return f"{self.task}({', '.join(map(str, self.sizes))}{keywords}{group})(x)"

    def setting(self) -> list[str]:
        return [*super().setting(), "float64"]


def _integers(count: int, largest: int, *key: int) -> np.ndarray:
    """Whole numbers of both signs, none of them zero."""
    generator = np.random.default_rng(key)
    return generator.choice((-1, 1), count) * generator.integers(1, largest, count, endpoint=True)


def kinds(world_size: int) -> list[dict[str, st.SearchStrategy[Any]]]:
    """What is fixed in the kinds of examples that every grading has to try.

    They are the whole world and every mesh of groups, with a gradient that whoever sums in place spoils; activations
    and gradients that cannot be viewed as rows, with the flag of a layer and without it; the gradient that a sum sends;
    and anything at all.
    """
    rows = {"lead": st.just((2, 3))}
    apart = {"layout": st.sampled_from(["transposed", "strided"]), "upstream": st.just("transposed")}
    return [
        *({"mesh": st.just(mesh), "upstream": st.just("contiguous")} for mesh in meshes(world_size)),
        *(rows | apart | {"flag": st.just(flag)} for flag in (True, False)),
        rows | {"upstream": st.just(EXPANDED)},
        {},
    ]


def _both_ways(draw: st.DrawFn, world_size: int, fixed: dict[str, st.SearchStrategy[Any]]) -> dict[str, Any]:
    """What an example of forward and backward draws, whatever the task."""
    any_of = {
        "mesh": st.sampled_from(meshes(world_size)),
        "seed": st.integers(0, 2**16),
        "lead": st.sampled_from(LEADS),
        "layout": st.sampled_from(LAYOUTS),
        "upstream": st.sampled_from(["contiguous", "transposed", "strided", EXPANDED]),
        "calls": st.integers(1, 2),
        "requires_grad": st.just(True),
    }
    return {name: draw(fixed.get(name, strategy)) for name, strategy in any_of.items()}


@st.composite
def regions(draw: st.DrawFn, /, task: str, world_size: int, **fixed: Any) -> Region:
    """Any shape, layout and group, but for what is `fixed`; small whole numbers, which every dtype holds exactly."""
    return Region(
        task,
        world_size,
        **_both_ways(draw, world_size, fixed),
        share=draw(st.integers(1, 3)),
        dtype=draw(st.sampled_from([torch.float64, torch.float32])),
        values=draw(st.sampled_from(["counting", "random"])),
    )


@st.composite
def models(draw: st.DrawFn, /, task: str, world_size: int, **fixed: Any) -> Model:
    """Any shape, layout, group and size that the ranks can share, but for what is `fixed`."""
    drawn = _both_ways(draw, world_size, fixed)
    n = len(drawn["mesh"][0]) if drawn["mesh"] else world_size
    any_size, shared = st.integers(1, 5), st.integers(1, 3).map(lambda share: share * n)
    sizes = {
        "column_parallel_forward": st.tuples(any_size, shared)
        | st.tuples(any_size, shared, shared)
        | st.tuples(any_size, shared, shared, shared),
        "RowParallelLinear": st.tuples(shared, any_size),
    }
    return Model(
        task,
        world_size,
        **drawn,
        sizes=draw(sizes.get(task, st.tuples(any_size, shared))),
        bias=draw(st.booleans()) if task != "column_parallel_forward" else False,
        flag=draw(fixed.get("flag", st.booleans())) if task in FLAGS else True,
    )
