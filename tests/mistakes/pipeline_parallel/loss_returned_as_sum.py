"""The gradients are right, and the loss returned is the sum of the micro-batches' losses.

mistake = 38
loses = ["pipeline_parallel.Pipeline"]
says = ["(?i)loss"]
"""


class Pipeline(Pipeline):
    def step(self, batch_size, inputs=None, targets=None):
        loss = super().step(batch_size, inputs, targets)
        return None if loss is None else loss * self.num_micro_batches
