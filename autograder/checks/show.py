"""Shows tensors as a reader compares them: short, in rows, equal things looking equal."""

from __future__ import annotations

import torch

MOST = 8  # elements shown of a longer tensor
DEEPEST = 8  # dimensions shown as such: whoever hands back a tensor of thousands has them flattened


def show_dtype(dtype: torch.dtype) -> str:
    """float32, not torch.float32."""
    return str(dtype).removeprefix("torch.")


def show(tensor: torch.Tensor, around: int = 0) -> str:
    """The tensor's elements, or those near position `around` of a long one: `[0 1 2]`, `[.. 8 9 10 ..]`, `7`."""
    if tensor.dim() == 0:
        return _number(tensor)
    flat = tensor.reshape(-1)
    if flat.numel() <= MOST:
        return _nested(tensor if tensor.dim() <= DEEPEST else flat)
    start = max(0, min(around - MOST // 2, flat.numel() - MOST))
    shown = " ".join(_number(element) for element in flat[start : start + MOST])
    before, after = ".. " if start else "", " .." if start + MOST < flat.numel() else ""
    return f"[{before}{shown}{after}]"


def _nested(tensor: torch.Tensor) -> str:
    return f"[{' '.join(_nested(part) if part.dim() else _number(part) for part in tensor)}]"


def _number(element: torch.Tensor) -> str:
    value = element.item()
    if isinstance(value, bool | int):
        return str(value)
    if isinstance(value, complex):
        return f"{value:.6g}"
    digits = 9 if element.dtype in (torch.float32, torch.float64) else 5
    return f"{value:.{digits}g}"


def show_arguments(calls: list[dict[str, torch.Tensor]]) -> str:
    """All tensor arguments of one rank: one alone without its name, lists gathered, calls one after another."""
    return "; then ".join(_one_call(arguments) for arguments in calls)


def _one_call(arguments: dict[str, torch.Tensor]) -> str:
    names: dict[str, list[torch.Tensor]] = {}
    for key, tensor in arguments.items():
        names.setdefault(key.partition("/")[0], []).append(tensor)
    if list(names) == ["tensor"]:
        return show(names["tensor"][0])
    parts = []
    for name, tensors in names.items():
        text = " ".join(show(tensor) for tensor in tensors)
        parts.append(f"{name} {text}")
    return ", ".join(parts)
