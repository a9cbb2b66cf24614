"""all_reduce stops after its reduce-scatter phase: each rank has one finished chunk.

mistake = 6
loses = ["collectives.all_reduce"]
says = ["expected"]
"""


def all_reduce(tensor, op=ReduceOp.SUM, group=None):
    combine = _combiner(op, tensor.dtype)
    rank, n = dist.get_rank(group), dist.get_world_size(group)
    flat = _flat(tensor)
    _ring(flat.tensor_split(n), rank, group, combine)
    if op == ReduceOp.AVG:
        flat /= n
    _write_back(flat, tensor)
