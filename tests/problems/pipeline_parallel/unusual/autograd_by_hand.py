"""Gradients are computed with torch.autograd.grad and added to .grad by hand; the loss is weighted in the gradient.

may_lose = []
"""


class _Step(_Step):
    def forward(self, i, received):
        x = self.inputs[i] if self.before is None else received.requires_grad_()
        y = self.pipeline.stage(x)
        if self.after is None:
            share = self.rows[i] / self.batch_size
            y = self.pipeline.loss_fn(y, self.targets[i])
            self.loss = y.detach() * share + (0 if self.loss is None else self.loss)
        self.in_flight[i] = x, y
        return [] if self.after is None else [(y.detach().contiguous(), self.after)]

    def backward(self, i, received):
        x, y = self.in_flight.pop(i)
        given = torch.full_like(y, self.rows[i] / self.batch_size) if received is None else received
        wanted = [p for p in self.pipeline.stage.parameters() if p.requires_grad]
        asked = wanted if self.before is None else [x, *wanted]
        grads = torch.autograd.grad(y, asked, given, allow_unused=True) if y.requires_grad and asked else []
        of_input = None
        if self.before is not None and grads:
            of_input, *grads = grads
        for parameter, grad in zip(wanted, grads):
            if grad is not None:
                parameter.grad = grad if parameter.grad is None else parameter.grad + grad
        if self.before is None:
            return []
        return [(torch.zeros_like(x) if of_input is None else of_input.contiguous(), self.before)]
