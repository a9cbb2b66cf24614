"""A gradient is asked of the first stage's inputs too, which integers cannot have.

loses = ["pipeline_parallel.Pipeline.networks"]
says = ["(?i)gradient|require"]
"""


class _Step(_Step):
    def __init__(self, pipeline, batch_size, inputs, targets):
        if inputs is not None:
            inputs = inputs.detach().requires_grad_()
        super().__init__(pipeline, batch_size, inputs, targets)
