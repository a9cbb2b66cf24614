"""Tensors are laid out as a table of rows, which those of no dimension and of no row have not.

loses = [
    "collectives.broadcast.sizes", "collectives.scatter.sizes", "collectives.gather.sizes", "collectives.reduce.sizes",
    "collectives.all_gather.sizes", "collectives.reduce_scatter.sizes", "collectives.all_reduce.sizes",
]
says = ["TypeError|RuntimeError"]
"""


def _flat(tensor):
    return tensor.detach().contiguous().view(len(tensor), -1).view(-1)
