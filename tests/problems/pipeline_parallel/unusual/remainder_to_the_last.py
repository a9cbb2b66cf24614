"""The rows that do not divide go to the last micro-batches, the same on every stage: nobody outside can tell.

may_lose = []
"""


class _Step(_Step):
    def __init__(self, pipeline, batch_size, inputs, targets):
        super().__init__(pipeline, batch_size, inputs, targets)
        self.rows.reverse()
        self.inputs = inputs.split(self.rows) if self.before is None else None
        self.targets = targets.split(self.rows) if self.after is None else None
