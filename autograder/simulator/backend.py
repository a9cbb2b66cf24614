"""The process group of a simulated rank, and its work handles. What torch.distributed calls, `Endpoint` is told.

Results are delivered at the wait: until then a receive buffer holds not-a-numbers. Sends and receives need contiguous
tensors, as gloo's and NCCL's do; collectives take any.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist

from autograder.fabric import callsite
from autograder.fabric.callsite import CallSite
from autograder.simulator import memory, wire
from autograder.simulator.buffer_guard import Buffer
from autograder.simulator.collectives import REDUCTIONS, reduces, tensor_counts
from autograder.simulator.endpoint import Endpoint
from autograder.simulator.future import LazyFuture
from autograder.simulator.verdict import SELF

FOREVER = timedelta(0)
Tensors = Sequence[torch.Tensor]


class SimWork(dist.Work):
    """A handle on one operation. `outputs` are the tensors that it delivers into."""

    def __init__(self, endpoint: Endpoint, operation: int, outputs: Tensors, ranks: tuple[int, ...]) -> None:
        super().__init__()
        self._endpoint, self._operation, self._outputs, self._ranks = endpoint, operation, outputs, ranks
        self._done = False
        self._source = -1

    def wait(self, timeout: timedelta = FOREVER) -> bool:
        """Stops until the operation is done, then delivers. Waiting again changes nothing."""
        if not self._done:
            site = callsite.locate("wait")
            self._endpoint.guard.check(self._operation, site)
            self._deliver(*self._endpoint.wait(self._operation, site))
        return True

    def is_completed(self) -> bool:
        """Whether the operation is done; if it is, that counts as having waited for it."""
        if not self._done:
            site = callsite.locate("is_completed")
            self._endpoint.guard.check(self._operation, site)
            answer = self._endpoint.poll(self._operation, site)
            if answer is not None:
                self._deliver(*answer)
        return self._done

    def is_success(self) -> bool:
        return self.is_completed()

    def exception(self) -> None:
        """Mistakes end the run: a handle never carries one."""
        return None

    def synchronize(self) -> None:
        self.wait()

    def block_current_stream(self) -> None:
        self.wait()

    def result(self) -> list[torch.Tensor]:
        """The tensors that the operation delivered into, after waiting for it."""
        self.wait()
        return list(self._outputs)

    def get_future(self) -> torch.futures.Future:
        """A future of `result()`.

        It waits when it is waited for, or at once if torch's own code asks for it, which has no way to make it wait.
        """
        return LazyFuture(self.result, self.is_completed)

    def source_rank(self) -> int:
        """The rank in the group that the message came from."""
        return self._ranks.index(self._source) if self._source in self._ranks else -1

    _source_rank = source_rank

    def _deliver(self, source: int, body: bytearray) -> None:
        self._done, self._source = True, source
        self._endpoint.guard.remove(self._operation)
        if len(self._outputs) == 1 and self._outputs[0].is_contiguous():
            memory.write(self._outputs[0], body)
        elif body:
            with self._endpoint.guard.aside():
                _fill(self._outputs, body)


class WorkOfAll(dist.Work):
    """One handle for several operations."""

    def __init__(self, works: Sequence[SimWork]) -> None:
        super().__init__()
        self._works = works

    def wait(self, timeout: timedelta = FOREVER) -> bool:
        return all([work.wait() for work in self._works])

    def is_completed(self) -> bool:
        return all([work.is_completed() for work in self._works])

    def is_success(self) -> bool:
        return self.is_completed()

    def exception(self) -> None:
        return None

    def synchronize(self) -> None:
        self.wait()

    def result(self) -> list[torch.Tensor]:
        return [tensor for work in self._works for tensor in work.result()]

    def get_future(self) -> torch.futures.Future:
        return LazyFuture(self.result, self.is_completed)


class SimGroup(dist.ProcessGroup):
    """The process group `name` with the global ranks `ranks`, in group order."""

    def __init__(self, endpoint: Endpoint, name: str, ranks: Sequence[int]) -> None:
        self._ranks = tuple(ranks)
        super().__init__(self._ranks.index(endpoint.rank), len(self._ranks))
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
        tensor = _one(tensors, contiguous=True)
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
        tensor = _one(tensors, contiguous=True)
        endpoint, site = self._endpoint, callsite.locate("irecv")
        if peer == endpoint.rank:
            endpoint.fault(SELF, f"{site.api} from itself ({site}).", site)
        buffer = Buffer(tensor, True, f"its {site.api} from {f'rank {peer}' if peer >= 0 else 'any rank'}", site)
        endpoint.guard.meet((buffer,))
        operation = endpoint.next_id()
        if site.api != "recv":
            endpoint.guard.keep(operation, (buffer,))
            _poison(buffer)
        endpoint.post(wire.Recv(*self._particulars(operation, site, peer, tag, tensor)))
        return SimWork(endpoint, operation, (tensor,), self._ranks)

    def _particulars(self, operation: int, site: CallSite, peer: int, tag: int, tensor: torch.Tensor) -> tuple:
        """The fields of wire.Send and wire.Recv."""
        endpoint, dtype = self._endpoint, memory.name_of(tensor.dtype)
        return operation, endpoint.clock.now, endpoint.site(site), self._number, peer, tag, dtype, tensor.numel()

    def _peer(self, group_rank: int) -> int:
        """A rank of the group as a global rank."""
        if not 0 <= group_rank < len(self._ranks):
            raise ValueError(f"rank {group_rank} is not in the group, which has {len(self._ranks)} ranks")
        return self._ranks[group_rank]

    # Collectives: inputs and outputs tensor by tensor, in group order

    def allreduce(self, tensors: list[torch.Tensor], opts: Any = None) -> SimWork:
        tensor = _one(tensors)
        return self._collective("all_reduce", [tensor], [tensor], opts, op=_op(opts))

    def broadcast(self, tensors: list[torch.Tensor], opts: Any) -> SimWork:
        tensor = _one(tensors)
        sides = ([tensor], []) if opts.rootRank == self.rank() else ([], [tensor])
        return self._collective("broadcast", *sides, opts, root=opts.rootRank)

    def reduce(self, tensors: list[torch.Tensor], opts: Any) -> SimWork:
        tensor = _one(tensors)
        outputs = [tensor] if opts.rootRank == self.rank() else []
        return self._collective("reduce", [tensor], outputs, opts, op=_op(opts), root=opts.rootRank)

    def allgather(self, outputs: list[list[torch.Tensor]], inputs: list[torch.Tensor], opts: Any = None) -> SimWork:
        return self._collective("all_gather", [_one(inputs)], _one(outputs), opts)

    def all_gather_single(self, output: torch.Tensor, input: torch.Tensor, opts: Any = None) -> SimWork:
        return self._collective("all_gather", [input], _chunks(output, self.size()), opts)

    def gather(self, outputs: list[list[torch.Tensor]], inputs: list[torch.Tensor], opts: Any) -> SimWork:
        outputs = _one(outputs) if opts.rootRank == self.rank() else []
        return self._collective("gather", [_one(inputs)], outputs, opts, root=opts.rootRank)

    def scatter(self, outputs: list[torch.Tensor], inputs: list[list[torch.Tensor]], opts: Any) -> SimWork:
        inputs = _one(inputs) if opts.rootRank == self.rank() else []
        return self._collective("scatter", inputs, [_one(outputs)], opts, root=opts.rootRank)

    def reduce_scatter(
        self, outputs: list[torch.Tensor], inputs: list[list[torch.Tensor]], opts: Any = None
    ) -> SimWork:
        return self._collective("reduce_scatter", _one(inputs), [_one(outputs)], opts, op=_op(opts))

    def reduce_scatter_single(self, output: torch.Tensor, input: torch.Tensor, opts: Any = None) -> SimWork:
        return self._collective("reduce_scatter", _chunks(input, self.size()), [output], opts, op=_op(opts))

    def alltoall(self, outputs: list[torch.Tensor], inputs: list[torch.Tensor], opts: Any = None) -> SimWork:
        return self._collective("all_to_all", inputs, outputs, opts)

    def all_to_all_single(
        self,
        output: torch.Tensor,
        input: torch.Tensor,
        output_split_sizes: list[int],
        input_split_sizes: list[int],
        opts: Any = None,
    ) -> SimWork:
        inputs = _splits(input, input_split_sizes, self.size())
        outputs = _splits(output, output_split_sizes, self.size())
        return self._collective("all_to_all", inputs, outputs, opts)

    def barrier(self, opts: Any = None) -> SimWork:
        return self._collective("barrier", [], [], opts)

    # Several at once

    def allreduce_coalesced(self, tensors: list[torch.Tensor], opts: Any = None) -> WorkOfAll:
        return WorkOfAll([self.allreduce([tensor], opts) for tensor in tensors])

    def all_gather_single_coalesced(self, outputs: Tensors, inputs: Tensors, opts: Any = None) -> WorkOfAll:
        return WorkOfAll([self.all_gather_single(*pair, opts) for pair in zip(outputs, inputs, strict=True)])

    def reduce_scatter_single_coalesced(self, outputs: Tensors, inputs: Tensors, opts: Any = None) -> WorkOfAll:
        return WorkOfAll([self.reduce_scatter_single(*pair, opts) for pair in zip(outputs, inputs, strict=True)])

    def allgather_coalesced(self, output_lists: list[Tensors], inputs: Tensors, opts: Any = None) -> WorkOfAll:
        """`output_lists[r][i]` receives tensor number i of rank r."""
        columns = [[outputs[i] for outputs in output_lists] for i in range(len(inputs))]
        return WorkOfAll([self.allgather([column], [tensor]) for column, tensor in zip(columns, inputs, strict=True)])

    # The names of older versions of torch
    _allgather_base = all_gather_single
    _reduce_scatter_base = reduce_scatter_single
    alltoall_base = all_to_all_single
    allgather_into_tensor_coalesced = all_gather_single_coalesced
    reduce_scatter_tensor_coalesced = reduce_scatter_single_coalesced

    def _collective(
        self,
        name: str,
        inputs: Tensors,
        outputs: Tensors,
        opts: Any,
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
        seen = [Buffer(tensor, False, what, site) for tensor in inputs if not _is_among(tensor, outputs)]
        endpoint.guard.meet((*seen, *filled))
        if is_async:
            endpoint.guard.keep(operation, (*seen, *filled))
            with endpoint.guard.aside():
                for buffer in seen:
                    buffer.contents = memory.read(buffer.tensor) if buffer.tensor.is_contiguous() else None
                for buffer in filled:
                    _poison(buffer)
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


def _poison(buffer: Buffer) -> None:
    """Fills an output until its data is delivered."""
    tensor = buffer.tensor
    if tensor.nbytes and tensor.is_contiguous():
        buffer.contents = memory.poison(tensor.dtype, tensor.nbytes)
        memory.write(tensor, buffer.contents)
    elif tensor.nbytes:
        with torch.no_grad():
            tensor.detach().fill_(torch.nan if tensor.is_floating_point() or tensor.is_complex() else 1)


def _is_among(tensor: torch.Tensor, outputs: Tensors) -> bool:
    """Whether an input is overwritten by one of the outputs."""
    return any(memory.overlap(tensor, output) for output in outputs)


def _fill(tensors: Tensors, body: bytearray) -> None:
    """Delivers bytes into tensors of any layout, one after the other."""
    at = 0
    for tensor in tensors:
        data = body[at : at + tensor.nbytes]
        at += tensor.nbytes
        if tensor.is_contiguous():
            memory.write(tensor, data)
        elif data:
            with torch.no_grad():
                tensor.detach().copy_(torch.frombuffer(data, dtype=tensor.dtype).view(tensor.shape))


def _one(items: Sequence[Any], contiguous: bool = False) -> Any:
    """The only element of a list, which c10d passes for historical reasons; a tensor has to be on the CPU."""
    if len(items) != 1:
        raise ValueError(f"one tensor a call, not {len(items)}")
    item = items[0]
    if isinstance(item, torch.Tensor):
        if item.device.type != "cpu" or item.layout != torch.strided:
            raise ValueError(f"the simulated cluster takes dense CPU tensors, not {item.layout} on {item.device}")
        if contiguous and not item.is_contiguous():
            raise ValueError("Tensors must be contiguous")
    return item


def _op(opts: Any) -> str:
    """The name of the reduction: SUM unless told otherwise."""
    if opts is None:
        return "SUM"
    for name in REDUCTIONS:
        if opts.reduceOp == getattr(dist.ReduceOp, name):
            return name
    raise ValueError(f"the simulated cluster has no reduction {opts.reduceOp}")


def _chunks(tensor: torch.Tensor, count: int) -> list[torch.Tensor]:
    """A contiguous tensor in `count` equal parts, as views."""
    if tensor.numel() % count or not tensor.is_contiguous():
        raise ValueError(f"a contiguous tensor of a multiple of {count} elements is needed, not {tuple(tensor.shape)}")
    flat = tensor.detach().view(-1)
    return list(flat.split(tensor.numel() // count)) if tensor.numel() else [flat] * count


def _splits(tensor: torch.Tensor, sizes: Sequence[int], count: int) -> list[torch.Tensor]:
    """A contiguous tensor cut along its first dimension: into `sizes`, or evenly, as views."""
    if not tensor.is_contiguous():
        raise ValueError("Tensors must be contiguous")
    if not sizes:
        if tensor.shape[0] % count:
            raise ValueError(f"the first dimension ({tensor.shape[0]}) does not divide into {count} equal parts")
        sizes = [tensor.shape[0] // count] * count
    if len(sizes) != count or sum(sizes) != tensor.shape[0]:
        raise ValueError(f"the split sizes {list(sizes)} do not fit {count} ranks and {tensor.shape[0]} rows")
    return list(tensor.detach().split(list(sizes)))
