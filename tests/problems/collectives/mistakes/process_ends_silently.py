"""A rank of scatter ends its process without a word.

loses = ["collectives.scatter"]
says = ["died|ended|exit"]
"""

import os

_scatter_and_stay = scatter


def scatter(tensor, scatter_list=None, src=0, group=None):
    _scatter_and_stay(tensor, scatter_list, src, group)
    if dist.get_rank() != src:
        os._exit(0)
