"""Every micro-batch goes forward and backward through all stages before the next one starts, under both schedules.

mistake = 41
loses = ["pipeline_parallel.Pipeline.in_flight", "pipeline_parallel.Pipeline.bubble"]
says = ["runs a backward before its last forward", "no two stages were ever at work together"]
"""


def _gpipe(stage, num_stages, num_micro_batches):
    return [(kind, i) for i in range(num_micro_batches) for kind in ("forward", "backward")]


_one_f_one_b = _gpipe
