def broadcast(tensor, src, group=None):
    tensor.add_(0)


def all_reduce(tensor, op=None, group=None):
    tensor.add_(0)
