"""AVG of integers rounds the quotient down, where the contract asks for a ValueError.

mistake = 16
loses = ["collectives.all_reduce"]
says = ["ValueError"]
"""


def all_reduce(tensor, op=ReduceOp.SUM, group=None):
    rank, n = dist.get_rank(group), dist.get_world_size(group)
    flat = _flat(tensor)
    chunks = flat.tensor_split(n)
    _ring(chunks, rank, group, COMBINE[op])
    _ring(chunks, rank + 1, group)
    if op == ReduceOp.AVG:
        flat.copy_(flat / n if flat.is_floating_point() else flat // n)
    _write_back(flat, tensor)
