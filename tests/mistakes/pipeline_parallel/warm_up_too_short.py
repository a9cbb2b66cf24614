"""The warm-up of 1f1b is one micro-batch too short wherever there is one.

mistake = 40
loses = ["pipeline_parallel.Pipeline.bubble"]
says = ["(?i)bubble"]
"""

_right_order = _one_f_one_b


def _one_f_one_b(stage, num_stages, num_micro_batches):
    return _right_order(min(stage + 1, num_stages - 1), num_stages, num_micro_batches)
