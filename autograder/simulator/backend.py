"""The process group of a simulated rank. What torch.distributed calls, `Endpoint` is told.

Results are delivered at the wait: until then a receive buffer holds NaN. Sends and receives need contiguous
tensors, as gloo's and NCCL's do; collectives take any.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
import torch.distributed as dist

from autograder.fabric import callsite
from autograder.fabric.callsite import CallSite
from autograder.simulator import memory, wire
from autograder.simulator.buffer_guard import Buffer
from autograder.simulator.collectives import REDUCTIONS, reduces, tensor_counts
from autograder.simulator.endpoint import Endpoint
from autograder.simulator.tensors import Tensors, chunks, is_among, one, poison, splits
from autograder.simulator.verdict import SELF
from autograder.simulator.work import SimWork, WorkOfAll

Options = Any  # torch has a class for each collective's, with what concerns it
Particulars = tuple[int, float, int, int, int, int, str, int]


class SimGroup(dist.ProcessGroup):
    """The process group `name` with the global ranks `ranks`, in group order."""

    def __init__(self, endpoint: Endpoint, name: str, ranks: Sequence[int]) -> None:
        self._ranks = tuple(ranks)
        index, size = self._ranks.index(endpoint.rank), len(self._ranks)
        super().__init__(index, size)  # type: ignore[call-arg]  # torch's stub lacks this overload
        self._endpoint = endpoint
        self._number = endpoint.group(name, self._ranks)

    def getBackendName(self) -> str:  # noqa: N802  (torch's name)
        return "sim"

    def shutdown(self) -> None:
        pass

    def abort(self) -> None:
        pass

    # Messages

    def send(self, tensors: list[torch.Tensor], dst: int, tag: int = 0) -> SimWork:
        tensor = one(tensors, contiguous=True)
        endpoint, site, peer = self._endpoint, callsite.locate("isend"), self._peer(dst)
        if peer == endpoint.rank:
            endpoint.fault(SELF, f"{site.api} to itself ({site}).", site)
        buffer = Buffer(tensor, False, f"its {site.api} to rank {peer}", site)
        endpoint.guard.meet((buffer,))
        operation, data = endpoint.next_id(), memory.read(tensor)
        if site.api != "send":
            buffer.contents = data
            endpoint.guard.keep(operation, (buffer,))
        endpoint.post(wire.Send(*self._particulars(operation, site, peer, tag, tensor)), data)
        return SimWork(endpoint, operation, (), self._ranks)

    def recv(self, tensors: list[torch.Tensor], src: int, tag: int = 0) -> SimWork:
        return self._recv(tensors, self._peer(src), tag)

    def recv_anysource(self, tensors: list[torch.Tensor], tag: int = 0) -> SimWork:
        return self._recv(tensors, -1, tag)

    def _recv(self, tensors: list[torch.Tensor], peer: int, tag: int) -> SimWork:
        tensor = one(tensors, contiguous=True)
        endpoint, site = self._endpoint, callsite.locate("irecv")
        if peer == endpoint.rank:
            endpoint.fault(SELF, f"{site.api} from itself ({site}).", site)
        buffer = Buffer(tensor, True, f"its {site.api} from {f'rank {peer}' if peer >= 0 else 'any rank'}", site)
        endpoint.guard.meet((buffer,))
        operation = endpoint.next_id()
        if site.api != "recv":
            endpoint.guard.keep(operation, (buffer,))
            poison(buffer)
        endpoint.post(wire.Recv(*self._particulars(operation, site, peer, tag, tensor)))
        return SimWork(endpoint, operation, (tensor,), self._ranks)

    def _particulars(self, operation: int, site: CallSite, peer: int, tag: int, tensor: torch.Tensor) -> Particulars:
        """The fields of wire.Send and wire.Recv."""
        endpoint, dtype = self._endpoint, memory.name_of(tensor.dtype)
        return operation, endpoint.clock.now, endpoint.site(site), self._number, peer, tag, dtype, tensor.numel()

    def _peer(self, group_rank: int) -> int:
        """A rank of the group as a global rank."""
        if not 0 <= group_rank < len(self._ranks):
            raise ValueError(f"rank {group_rank} is not in the group, which has {len(self._ranks)} ranks")
        return self._ranks[group_rank]

    # Collectives: inputs and outputs tensor by tensor, in group order

    def _all_reduce(self, tensors: list[torch.Tensor], opts: Options = None) -> SimWork:
        tensor = one(tensors)
        return self._collective("all_reduce", [tensor], [tensor], opts, op=_op(opts))

    def _broadcast(self, tensors: list[torch.Tensor], opts: Options) -> SimWork:
        tensor = one(tensors)
        sides = ([tensor], []) if opts.rootRank == self.rank() else ([], [tensor])
        return self._collective("broadcast", *sides, opts, root=opts.rootRank)

    def _reduce(self, tensors: list[torch.Tensor], opts: Options) -> SimWork:
        tensor = one(tensors)
        outputs = [tensor] if opts.rootRank == self.rank() else []
        return self._collective("reduce", [tensor], outputs, opts, op=_op(opts), root=opts.rootRank)

    def _all_gather(
        self, outputs: list[list[torch.Tensor]], inputs: list[torch.Tensor], opts: Options = None
    ) -> SimWork:
        return self._collective("all_gather", [one(inputs)], one(outputs), opts)

    def _all_gather_single(self, output: torch.Tensor, input: torch.Tensor, opts: Options = None) -> SimWork:
        return self._collective("all_gather", [input], chunks(output, self.size()), opts)

    def _gather(self, outputs: list[list[torch.Tensor]], inputs: list[torch.Tensor], opts: Options) -> SimWork:
        received = one(outputs) if opts.rootRank == self.rank() else []
        return self._collective("gather", [one(inputs)], received, opts, root=opts.rootRank)

    def _scatter(self, outputs: list[torch.Tensor], inputs: list[list[torch.Tensor]], opts: Options) -> SimWork:
        sent = one(inputs) if opts.rootRank == self.rank() else []
        return self._collective("scatter", sent, [one(outputs)], opts, root=opts.rootRank)

    def _reduce_scatter(
        self, outputs: list[torch.Tensor], inputs: list[list[torch.Tensor]], opts: Options = None
    ) -> SimWork:
        return self._collective("reduce_scatter", one(inputs), [one(outputs)], opts, op=_op(opts))

    def _reduce_scatter_single(self, output: torch.Tensor, input: torch.Tensor, opts: Options = None) -> SimWork:
        return self._collective("reduce_scatter", chunks(input, self.size()), [output], opts, op=_op(opts))

    def _all_to_all(self, outputs: list[torch.Tensor], inputs: list[torch.Tensor], opts: Options = None) -> SimWork:
        return self._collective("all_to_all", inputs, outputs, opts)

    def _all_to_all_single(
        self,
        output: torch.Tensor,
        input: torch.Tensor,
        output_split_sizes: list[int],
        input_split_sizes: list[int],
        opts: Options = None,
    ) -> SimWork:
        inputs = splits(input, input_split_sizes, self.size())
        outputs = splits(output, output_split_sizes, self.size())
        return self._collective("all_to_all", inputs, outputs, opts)

    def _barrier(self, opts: Options = None) -> SimWork:
        return self._collective("barrier", [], [], opts)

    # Several at once

    def _all_reduce_coalesced(self, tensors: list[torch.Tensor], opts: Options = None) -> WorkOfAll:
        return WorkOfAll([self._all_reduce([tensor], opts) for tensor in tensors])

    def _all_gather_single_coalesced(self, outputs: Tensors, inputs: Tensors, opts: Options = None) -> WorkOfAll:
        return WorkOfAll([self._all_gather_single(*pair, opts) for pair in zip(outputs, inputs, strict=True)])

    def _reduce_scatter_single_coalesced(self, outputs: Tensors, inputs: Tensors, opts: Options = None) -> WorkOfAll:
        return WorkOfAll([self._reduce_scatter_single(*pair, opts) for pair in zip(outputs, inputs, strict=True)])

    def _all_gather_coalesced(self, output_lists: list[Tensors], inputs: Tensors, opts: Options = None) -> WorkOfAll:
        """`output_lists[r][i]` receives tensor number i of rank r."""
        columns = [[outputs[i] for outputs in output_lists] for i in range(len(inputs))]
        return WorkOfAll([self._all_gather([column], [tensor]) for column, tensor in zip(columns, inputs, strict=True)])

    def _collective(
        self,
        name: str,
        inputs: Tensors,
        outputs: Tensors,
        opts: Options,
        *,
        op: str = "",
        root: int = -1,
    ) -> SimWork:
        """Begins a collective. `root` is a rank of the group."""
        endpoint, site = self._endpoint, callsite.locate(name)
        is_async = getattr(opts, "asyncOp", True)
        tensors = [*inputs, *outputs]
        dtypes = {tensor.dtype for tensor in tensors}
        if len(dtypes) > 1:
            raise ValueError(f"{name}: all tensors must have one dtype, not {', '.join(sorted(map(str, dtypes)))}")
        dtype = memory.name_of(dtypes.pop()) if dtypes else ""
        if op and not reduces(op, dtype):
            raise ValueError(f"{name}: {op} is not defined for {dtype}")
        counts = tensor_counts(name, self.size(), root == self.rank())
        if (len(inputs), len(outputs)) != counts:
            wanted = "{} input and {} output tensors".format(*counts)
            raise ValueError(f"{name}: needs {wanted} on this rank, not {len(inputs)} and {len(outputs)}")
        operation, what = endpoint.next_id(), f"its {site.api}"
        with endpoint.guard.aside():
            data = b"".join(memory.read(tensor.detach().contiguous()) for tensor in inputs)
        filled = [Buffer(tensor, True, what, site) for tensor in outputs]
        seen = [Buffer(tensor, False, what, site) for tensor in inputs if not is_among(tensor, outputs)]
        endpoint.guard.meet((*seen, *filled))
        if is_async:
            endpoint.guard.keep(operation, (*seen, *filled))
            with endpoint.guard.aside():
                for buffer in seen:
                    buffer.contents = memory.read(buffer.tensor) if buffer.tensor.is_contiguous() else None
                for buffer in filled:
                    poison(buffer)
        message = wire.Collective(
            operation,
            endpoint.clock.now,
            endpoint.site(site),
            self._number,
            name,
            dtype,
            op,
            self._peer(root) if root >= 0 else -1,
            [tensor.numel() for tensor in inputs],
            [tensor.numel() for tensor in outputs],
        )
        endpoint.post(message, data)
        return SimWork(endpoint, operation, tuple(outputs), self._ranks)


# By torch's names, older ones among them. Defined as methods, they would clash with overloads in torch's stubs.
_METHODS = {
    "allreduce": SimGroup._all_reduce,
    "broadcast": SimGroup._broadcast,
    "reduce": SimGroup._reduce,
    "allgather": SimGroup._all_gather,
    "all_gather_single": SimGroup._all_gather_single,
    "gather": SimGroup._gather,
    "scatter": SimGroup._scatter,
    "reduce_scatter": SimGroup._reduce_scatter,
    "reduce_scatter_single": SimGroup._reduce_scatter_single,
    "alltoall": SimGroup._all_to_all,
    "all_to_all_single": SimGroup._all_to_all_single,
    "barrier": SimGroup._barrier,
    "allreduce_coalesced": SimGroup._all_reduce_coalesced,
    "all_gather_single_coalesced": SimGroup._all_gather_single_coalesced,
    "reduce_scatter_single_coalesced": SimGroup._reduce_scatter_single_coalesced,
    "allgather_coalesced": SimGroup._all_gather_coalesced,
    "_allgather_base": SimGroup._all_gather_single,
    "_reduce_scatter_base": SimGroup._reduce_scatter_single,
    "alltoall_base": SimGroup._all_to_all_single,
    "allgather_into_tensor_coalesced": SimGroup._all_gather_single_coalesced,
    "reduce_scatter_tensor_coalesced": SimGroup._reduce_scatter_single_coalesced,
}
for _name, _method in _METHODS.items():
    setattr(SimGroup, _name, _method)


def _op(opts: Any) -> str:
    """The name of the reduction: SUM unless told otherwise."""
    if opts is None:
        return "SUM"
    for name in REDUCTIONS:
        if opts.reduceOp == getattr(dist.ReduceOp, name):
            return name
    raise ValueError(f"the simulated cluster has no reduction {opts.reduceOp}")
