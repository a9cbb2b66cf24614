"""A rank as an interpreter of its own, for systems where a process that has imported torch must not fork."""

import json
import sys

import torch

from autograder.cluster.zygote import run_rank

if __name__ == "__main__":
    torch.set_num_threads(1)
    run_rank(json.loads(sys.argv[1]), json.loads(sys.argv[2]))
