"""A rank of scatter that has its part leaves the whole program.

loses = ["collectives.scatter"]
says = ["exit|Exit"]
"""

_scatter_and_stay = scatter


def scatter(tensor, scatter_list=None, src=0, group=None):
    _scatter_and_stay(tensor, scatter_list, src, group)
    if dist.get_rank() != src:
        raise SystemExit(0)
