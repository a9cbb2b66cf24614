"""all_reduce by recursive doubling finds its partner with rank ^ distance, which is no rank when n is 3 or 5.

mistake = 20
loses = ["collectives.all_reduce"]
says = ["rank"]
"""


def all_reduce(tensor, op=ReduceOp.SUM, group=None):
    combine = _combiner(op, tensor.dtype)
    rank, n = dist.get_rank(group), dist.get_world_size(group)
    flat = _flat(tensor)
    distance = 1
    while distance < n:
        partner = rank ^ distance
        landed = torch.empty_like(flat)
        _exchange({partner: flat}, {partner: landed}, group)
        combine(flat, landed, out=flat)
        distance *= 2
    if op == ReduceOp.AVG:
        flat /= n
    _write_back(flat, tensor)
