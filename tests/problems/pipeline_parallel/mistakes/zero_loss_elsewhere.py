"""The stages that do not know the loss return a zero instead of None.

loses = ["pipeline_parallel.Pipeline"]
says = ["step returned a Tensor on rank 0: every stage but the last returns None"]
"""


class Pipeline(Pipeline):
    def step(self, batch_size, inputs=None, targets=None):
        loss = super().step(batch_size, inputs, targets)
        return torch.zeros(()) if loss is None else loss
