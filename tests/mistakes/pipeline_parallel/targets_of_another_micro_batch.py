"""The targets are taken from the end of the batch backwards.

loses = ["pipeline_parallel.Pipeline"]
says = ["(?i)loss|shape|size"]
"""


class _Step(_Step):
    def __init__(self, pipeline, batch_size, inputs, targets):
        super().__init__(pipeline, batch_size, inputs, targets)
        if self.targets is not None:
            self.targets = self.targets[::-1]
