"""The loss returned still has a gradient, and so keeps every activation of the step.

loses = ["pipeline_parallel.Pipeline"]
says = ["still requires a gradient"]
"""


class _Step(_Step):
    def forward(self, i, received):
        loss = self.loss
        sends = super().forward(i, received)
        if self.after is None:
            own = self.in_flight[i][1]
            self.loss = own if loss is None else loss + own
        return sends
