"""Every stage warms up as long as the first one does: right values, too many micro-batches in flight.

mistake = 40
loses = ["pipeline_parallel.Pipeline.in_flight"]
says = ["(?i)in flight"]
"""

_right_order = _one_f_one_b


def _one_f_one_b(stage, num_stages, num_micro_batches):
    return _right_order(0, num_stages, num_micro_batches)
