"""Too few rows are an error on the first stage, which leaves the others waiting for it.

loses = ["pipeline_parallel.Pipeline.errors"]
says = ["rank 0, which", "expected ValueError on every rank"]
"""


class Pipeline(Pipeline):
    def step(self, batch_size, inputs=None, targets=None):
        if inputs is None and batch_size < self.num_micro_batches:
            dist.recv(torch.zeros(1), _neighbours(self.group)[0], group=self.group)
        return super().step(batch_size, inputs, targets)
