"""Only the last stage runs backward; the others pass on what they got.

loses = ["pipeline_parallel.Pipeline"]
says = ["(?i)gradient"]
"""


class _Step(_Step):
    def backward(self, i, received):
        if self.after is None:
            return super().backward(i, received)
        x, _ = self.in_flight.pop(i)
        return [] if self.before is None else [(torch.ones_like(x), self.before)]
