"""Gathers along dimension 1, as on the lecture's slide: right for a matrix only.

mistake = 35
loses = [
    "tensor_parallel.gather_from_region",
    "tensor_parallel.scatter_to_region",
    "tensor_parallel.all_gather_from_region",
    "tensor_parallel.column_parallel_forward",
    "tensor_parallel.ColumnParallelLinear",
    "tensor_parallel.RowParallelLinear",
]
says = ["dimension|shape"]
"""


def _all_gather(x, group):
    x = x.contiguous()
    slices = [torch.empty_like(x) for _ in range(dist.get_world_size(group))]
    dist.all_gather(slices, x, group=group)
    return torch.cat(slices, dim=1)
