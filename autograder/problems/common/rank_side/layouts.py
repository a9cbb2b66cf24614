"""Builds a tensor with the memory layout that an example asks for, from contiguous values."""

from __future__ import annotations

import torch

LAYOUTS = ("contiguous", "transposed", "strided", "offset")


def lay_out(values: torch.Tensor, layout: str) -> torch.Tensor:
    """A tensor equal to `values` in shape and elements, laid out in memory as named.

    transposed: dimensions stored in reverse order; strided: every other element of a larger buffer; offset: the middle
    of a larger buffer. Tensors without dimensions are laid out as vectors of one element are.
    """
    if layout == "transposed":
        order = list(reversed(range(values.dim())))
        return values.permute(order).contiguous().permute(order)
    if layout == "strided":
        room = values.new_zeros((*values.shape, 2))
        room[..., 0] = values
        return room[..., 0]
    if layout == "offset":
        room = values.new_zeros(values.numel() + 7)
        view = room[3 : 3 + values.numel()].view(values.shape)
        return view.copy_(values)
    return values.clone()
