"""What the simulated process group does with tensors that torch hands it: checks, cuts, and fills them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import torch

from autograder.simulator import memory
from autograder.simulator.buffer_guard import Buffer

Tensors = Sequence[torch.Tensor]
Item = TypeVar("Item", torch.Tensor, list[torch.Tensor])


def poison(buffer: Buffer) -> None:
    """Fills an output until its data is delivered."""
    tensor = buffer.tensor
    if tensor.nbytes and tensor.is_contiguous():
        buffer.contents = memory.poison(tensor.dtype, tensor.nbytes)
        memory.write(tensor, buffer.contents)
    elif tensor.nbytes:
        with torch.no_grad():
            tensor.detach().fill_(torch.nan if tensor.is_floating_point() or tensor.is_complex() else 1)


def is_among(tensor: torch.Tensor, outputs: Tensors) -> bool:
    """Whether an input is overwritten by one of the outputs."""
    return any(memory.overlap(tensor, output) for output in outputs)


def fill(tensors: Tensors, body: bytearray) -> None:
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


def one(items: Sequence[Item], contiguous: bool = False) -> Item:
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


def chunks(tensor: torch.Tensor, count: int) -> list[torch.Tensor]:
    """A contiguous tensor in `count` equal parts, as views."""
    if tensor.numel() % count or not tensor.is_contiguous():
        raise ValueError(f"a contiguous tensor of a multiple of {count} elements is needed, not {tuple(tensor.shape)}")
    flat = tensor.detach().view(-1)
    return list(torch.split(flat, tensor.numel() // count)) if tensor.numel() else [flat] * count


def splits(tensor: torch.Tensor, sizes: Sequence[int], count: int) -> list[torch.Tensor]:
    """A contiguous tensor cut along its first dimension: into `sizes`, or evenly, as views."""
    if not tensor.is_contiguous():
        raise ValueError("Tensors must be contiguous")
    if not sizes:
        if tensor.shape[0] % count:
            raise ValueError(f"the first dimension ({tensor.shape[0]}) does not divide into {count} equal parts")
        sizes = [tensor.shape[0] // count] * count
    if len(sizes) != count or sum(sizes) != tensor.shape[0]:
        raise ValueError(f"the split sizes {list(sizes)} do not fit {count} ranks and {tensor.shape[0]} rows")
    return list(torch.split(tensor.detach(), list(sizes)))
