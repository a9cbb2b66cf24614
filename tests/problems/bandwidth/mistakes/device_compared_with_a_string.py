"""Waits for the device only where it is called "cuda" to the letter.

loses = ["bandwidth.time_collective.synchronize"]
says = ["synchronise before each reading"]
"""


def _synchronize(device):
    if device == "cuda":
        torch.cuda.synchronize(device)
