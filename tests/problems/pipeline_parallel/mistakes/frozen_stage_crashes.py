"""Backward is called on every output, also on one that no trainable parameter stands behind.

loses = ["pipeline_parallel.Pipeline.networks"]
says = ["rank 0: element 0 of tensors does not require grad"]
"""


class _Step(_Step):
    def backward(self, i, received):
        x, y = self.in_flight.pop(i)
        y.backward(received)
        return [] if self.before is None else [(x.grad.contiguous(), self.before)]
