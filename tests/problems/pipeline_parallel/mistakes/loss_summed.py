"""The losses of the micro-batches are summed, not averaged, and the gradients with them.

mistake = 38
loses = ["pipeline_parallel.Pipeline"]
says = ["the sum of the micro-batches. losses, not the mean"]
"""


class _Step(_Step):
    def forward(self, i, received):
        rows, self.rows[i] = self.rows[i], self.batch_size  # a weight of 1
        sends = super().forward(i, received)
        self.rows[i] = rows
        return sends
