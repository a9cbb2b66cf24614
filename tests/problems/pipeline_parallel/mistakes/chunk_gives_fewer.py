"""The batch is cut with torch.chunk, which may give fewer pieces than asked for.

mistake = 39
loses = ["pipeline_parallel.Pipeline.uneven"]
says = ["(?i)micro-batch|IndexError"]
"""


class _Step(_Step):
    def __init__(self, pipeline, batch_size, inputs, targets):
        super().__init__(pipeline, batch_size, inputs, targets)
        self.rows = [len(piece) for piece in torch.empty(batch_size).chunk(pipeline.num_micro_batches)]
        self.inputs = inputs.split(self.rows) if self.before is None else None
        self.targets = targets.split(self.rows) if self.after is None else None
