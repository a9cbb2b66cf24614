"""The network's input gets a gradient, and an all-reduce for it, even where it requires none.

loses = ["tensor_parallel.column_parallel_forward.traffic"]
says = ["x requires no gradient: there"]
"""


_network = column_parallel_forward


def column_parallel_forward(x, weights, group=None):
    return _network(x if x.requires_grad else x.detach().requires_grad_(), weights, group)
