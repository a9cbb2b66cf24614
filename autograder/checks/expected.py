"""What a tensor must hold, bit for bit or within a bound."""

from __future__ import annotations

import numpy as np
import torch


class Expected:
    """What a tensor must hold: bit for bit (`bound` is None), or within `bound` of `values` (float64), element-wise."""

    def __init__(self, values: np.ndarray, dtype: torch.dtype, bound: np.ndarray | None = None) -> None:
        self.values, self.dtype, self.bound = values, dtype, bound

    def wrong(self, got: torch.Tensor) -> np.ndarray:
        """Which elements are wrong; `got` has the right shape and dtype."""
        if self.bound is None:
            ours, theirs = np.ascontiguousarray(self.values), np.ascontiguousarray(bits(got))
            wrong: np.ndarray = np.not_equal(ours, theirs).reshape(ours.shape)
            return wrong
        values = got.double().numpy()
        with np.errstate(invalid="ignore"):
            near = np.abs(values - self.values) <= self.bound
        # What is not finite has no distance: it is there or it is not. All NaNs are one.
        same_kind = (values == self.values) | (np.isnan(values) & np.isnan(self.values))
        right: np.ndarray = np.where(np.isfinite(self.values), near, same_kind)
        return ~right

    def tensor(self) -> torch.Tensor:
        """The expected values as a tensor of the expected dtype, to be shown."""
        if self.bound is None:
            return from_bits(self.values, self.dtype)
        return torch.from_numpy(np.array(self.values)).to(self.dtype)


BITS = {1: np.uint8, 2: np.int16, 4: np.int32, 8: np.int64}


def bits(tensor: torch.Tensor) -> np.ndarray:
    """The tensor's elements as integers of the same size: equal if and only if the bits are."""
    if not tensor.numel():
        return np.empty(tuple(tensor.shape), BITS[tensor.element_size()])
    flat = tensor.contiguous().reshape(-1).view(torch.uint8).numpy()
    return flat.view(BITS[tensor.element_size()]).reshape(tuple(tensor.shape))


def from_bits(values: np.ndarray, dtype: torch.dtype) -> torch.Tensor:
    """The tensor whose `bits` these are."""
    if not values.size:
        return torch.empty(values.shape, dtype=dtype)
    flat = np.ascontiguousarray(values).reshape(-1).view(np.uint8).copy()
    return torch.from_numpy(flat).view(dtype).reshape(values.shape)


def same(tensor: torch.Tensor) -> Expected:
    """The tensor as it is."""
    return Expected(bits(tensor), tensor.dtype)


def moved(parts: list[torch.Tensor], shape: tuple[int, ...]) -> Expected:
    """The parts one after another, in the given shape."""
    return Expected(np.concatenate([bits(p).reshape(-1) for p in parts]).reshape(shape), parts[0].dtype)
