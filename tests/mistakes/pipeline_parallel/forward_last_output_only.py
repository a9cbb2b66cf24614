"""The last stage returns the output of the last micro-batch only.

loses = ["pipeline_parallel.pipeline_forward"]
says = ["pipeline_forward"]
"""

_right_forward = pipeline_forward


def pipeline_forward(stage, micro_batches, group=None):
    outputs = _right_forward(stage, micro_batches, group)
    return outputs and outputs[-1:]
