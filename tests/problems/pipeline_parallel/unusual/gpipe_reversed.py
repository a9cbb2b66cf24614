"""GPipe runs the backwards from the last micro-batch to the first, as its paper's picture has it.

may_lose = []
"""


def _gpipe(stage, num_stages, num_micro_batches):
    micro_batches = range(num_micro_batches)
    return [("forward", i) for i in micro_batches] + [("backward", i) for i in reversed(micro_batches)]
