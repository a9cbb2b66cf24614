"""Every stage divides the gradient that it passes on by the number of micro-batches.

mistake = 38
loses = ["pipeline_parallel.Pipeline"]
says = ["divided by the number of micro-batches once too often"]
"""


class _Step(_Step):
    def backward(self, i, received):
        return [(grad / self.pipeline.num_micro_batches, peer) for grad, peer in super().backward(i, received)]
