"""Messages go by way of numpy, which has no bfloat16.

loses = [
    "collectives.broadcast.dtypes", "collectives.scatter.dtypes", "collectives.gather.dtypes",
    "collectives.all_gather.dtypes", "collectives.all_to_all.dtypes",
    "collectives.reduce.ops", "collectives.reduce_scatter.ops", "collectives.all_reduce.ops",
    "collectives.all_reduce.lockstep",
]
says = ["bfloat16"]
"""


def _flat(tensor):
    return torch.from_numpy(tensor.detach().contiguous().numpy()).view(-1)


_all_to_all_by_torch = all_to_all


def all_to_all(output, input, output_split_sizes=None, input_split_sizes=None, group=None):
    landed = torch.from_numpy(output.contiguous().numpy())
    _all_to_all_by_torch(landed, input, output_split_sizes, input_split_sizes, group)
    output.copy_(landed)
