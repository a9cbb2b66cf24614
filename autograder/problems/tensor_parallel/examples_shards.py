"""Examples of problem 4 that look at layers just made, before anything is computed."""

from __future__ import annotations

import dataclasses

from hypothesis import strategies as st

from autograder.checks.example import Call, Description
from autograder.checks.placement import Mesh, SideBySide
from autograder.problems.tensor_parallel.messages import StartArguments


@dataclasses.dataclass(frozen=True)
class Start(SideBySide):
    """Two layers of one kind, made one after the other by ranks that are all seeded alike."""

    sizes: tuple[int, int] = (96, 144)
    bias: bool = True

    def call(self) -> Call:
        """The same for every rank; one rank can share any sizes."""
        inputs, outputs = self.sizes
        arguments = StartArguments(
            task=self.task,
            groups=self.mesh,
            seed=self.seed,
            sizes=self.sizes,
            bias=self.bias,
            indivisible=(inputs + 1, outputs + 1) if self.size > 1 else None,
        )
        return Call("start", (arguments,) * self.world_size, ({},) * self.world_size)

    def slice_shapes(self) -> dict[str, list[int]]:
        """The shape of every parameter on one rank."""
        inputs, outputs = self.sizes
        column = self.task == "ColumnParallelLinear"
        weight = [inputs, outputs // self.size] if column else [inputs // self.size, outputs]
        return {"weight": weight, **({"bias": [weight[1]]} if self.bias else {})}

    def describe(self) -> Description:
        """The call in a student's words."""
        sizes = ", ".join(map(str, self.sizes))
        keywords = f", bias={self.bias}{', group=group' if self.mesh else ''}"
        setting = [*self.setting(), f"torch.manual_seed({self.seed}) on every rank", "two layers made"]
        return Description(f"{self.task}({sizes}{keywords})", ", ".join(setting), ("",) * self.world_size)


@st.composite
def starts(draw: st.DrawFn, task: str, world_size: int, mesh: Mesh | None) -> Start:
    """Sizes that all ranks can share, large enough to tell distributions apart."""
    return Start(
        task,
        world_size,
        mesh,
        seed=draw(st.integers(0, 2**16)),
        sizes=draw(st.sampled_from([(96, 144), (132, 96)])),
        bias=draw(st.booleans()),
    )
