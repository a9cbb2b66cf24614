"""1f1b without a warm-up: each stage waits for a micro-batch's gradient before it starts on the next one.

mistake = 40
loses = ["pipeline_parallel.Pipeline.bubble"]
says = ["the bubble is"]
"""


def _one_f_one_b(stage, num_stages, num_micro_batches):
    return [(kind, i) for i in range(num_micro_batches) for kind in ("forward", "backward")]
