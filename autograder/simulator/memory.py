"""Bytes of tensors: read and written by address, so that nothing passes through torch's dispatcher."""

import ctypes

import numpy as np
import torch

# Not-a-number that signals, least significant byte first: copying keeps it, arithmetic on it changes its bits. So a
# buffer full of it shows later whether somebody computed with it in place.
_SIGNALLING = {
    torch.float16: b"\xa5\x7d",
    torch.bfloat16: b"\xa5\x7f",
    torch.float32: b"\xa5\xa5\xa5\x7f",
    torch.float64: b"\xa5\xa5\xa5\xa5\xa5\xa5\xf5\x7f",
    torch.complex64: b"\xa5\xa5\xa5\x7f",
    torch.complex128: b"\xa5\xa5\xa5\xa5\xa5\xa5\xf5\x7f",
}


def name_of(dtype: torch.dtype) -> str:
    """ "float32" for torch.float32."""
    return str(dtype)[6:]


def read(tensor: torch.Tensor) -> bytes:
    """A contiguous tensor's bytes."""
    return ctypes.string_at(tensor.data_ptr(), tensor.nbytes) if tensor.nbytes else b""


def write(tensor: torch.Tensor, data: bytes | bytearray | memoryview) -> None:
    """Fills a contiguous tensor."""
    size = tensor.nbytes
    if size:
        ctypes.memmove(tensor.data_ptr(), bytes(data), size)


def poison(dtype: torch.dtype, nbytes: int) -> bytes:
    """What a buffer holds until its data is delivered: NaN, or 0x7f bytes (large integers; True)."""
    if dtype == torch.bool:
        return b"\x01" * nbytes
    pattern = _SIGNALLING.get(dtype, b"\x7f")
    return pattern * (nbytes // len(pattern))


def span(tensor: torch.Tensor) -> tuple[int, int]:
    """The addresses from the tensor's first byte to behind its last."""
    first = tensor.data_ptr()
    if tensor.is_contiguous():
        return first, first + tensor.nbytes
    extent = sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True) if size)
    return first, first + (extent + 1) * tensor.element_size() if tensor.numel() else first


def overlap(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Whether two tensors share a byte."""
    (a_first, a_end), (b_first, b_end) = span(a), span(b)
    low, high = max(a_first, b_first), min(a_end, b_end)
    if low >= high:
        return False
    if a.is_contiguous() and b.is_contiguous():
        return True
    start = min(a_first, b_first)
    size = max(a_end, b_end) - start
    return bool((_touched(a, start, size) & _touched(b, start, size)).any())


def _touched(tensor: torch.Tensor, start: int, size: int) -> np.ndarray:
    """For each of `size` bytes from the address `start`: whether it belongs to the tensor."""
    mask = np.zeros(size, dtype=bool)
    item = tensor.element_size()
    shape = (*tensor.shape, item)
    strides = (*(stride * item for stride in tensor.stride()), 1)
    view = np.lib.stride_tricks.as_strided(mask[tensor.data_ptr() - start :], shape, strides)
    view[...] = True
    return mask
