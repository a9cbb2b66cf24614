"""all_reduce pads a tensor that does not divide, and leaves the result in the padded copy.

mistake = 7
loses = ["collectives.all_reduce"]
says = ["expected"]
"""


def all_reduce(tensor, op=ReduceOp.SUM, group=None):
    combine = _combiner(op, tensor.dtype)
    rank, n = dist.get_rank(group), dist.get_world_size(group)
    row = _flat(tensor)
    if row.numel() % n:
        row = torch.cat([row, row.new_zeros(n - row.numel() % n)])
    chunks = row.tensor_split(n)
    _ring(chunks, rank, group, combine)
    _ring(chunks, rank + 1, group)
    if op == ReduceOp.AVG:
        row /= n
    if tensor.numel() == row.numel():
        _write_back(row, tensor)
