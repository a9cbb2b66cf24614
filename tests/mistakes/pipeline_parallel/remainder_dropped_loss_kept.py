"""The rows that do not divide are dropped, and the loss is still divided by the whole batch size.

mistake = 39
loses = ["pipeline_parallel.Pipeline.uneven"]
says = ["(?i)loss|gradient|rows"]
"""


class _Step(_Step):
    def __init__(self, pipeline, batch_size, inputs, targets):
        kept = batch_size - batch_size % pipeline.num_micro_batches
        inputs = None if inputs is None else inputs[:kept]
        targets = None if targets is None else targets[:kept]
        super().__init__(pipeline, kept, inputs, targets)
        self.batch_size = batch_size
