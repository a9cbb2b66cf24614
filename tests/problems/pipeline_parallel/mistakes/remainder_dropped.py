"""The rows that do not divide are dropped: every micro-batch has batch // M.

mistake = 39
loses = ["pipeline_parallel.Pipeline.uneven"]
says = ["the rest does not divide, and is missing"]
"""


class Pipeline(Pipeline):
    def step(self, batch_size, inputs=None, targets=None):
        if batch_size >= self.num_micro_batches:
            batch_size -= batch_size % self.num_micro_batches
        inputs = None if inputs is None else inputs[:batch_size]
        targets = None if targets is None else targets[:batch_size]
        return super().step(batch_size, inputs, targets)
