"""Each activation is announced by a message with its shape, and example_input is used for the dtype only.

may_lose = []
"""


class _Step(_Step):
    def receives(self, kind, i):
        if kind == "forward" and self.before is not None:
            header = torch.zeros(8, dtype=torch.int64)
            dist.recv(header, self.before, group=self.pipeline.group)
            dimensions, *shape = header.tolist()
            buffer = torch.empty(shape[:dimensions], dtype=self.pipeline.example_input.dtype)
            dist.recv(buffer, self.before, group=self.pipeline.group)
            self.announced = buffer
            return []
        return super().receives(kind, i)

    def forward(self, i, received):
        sends = super().forward(i, received if self.before is None else self.announced)
        for tensor, peer in sends:
            shape = [tensor.dim(), *tensor.shape]
            self.sending(torch.tensor(shape + [0] * (8 - len(shape))), peer)
            self.sending(tensor, peer)
        return []

    def sending(self, tensor, peer):
        works = self.pipeline.__dict__.setdefault("works", [])
        works.append((dist.isend(tensor, peer, group=self.pipeline.group), tensor))


class Pipeline(Pipeline):
    def step(self, batch_size, inputs=None, targets=None):
        loss = super().step(batch_size, inputs, targets)
        for work, _ in self.__dict__.pop("works", []):
            work.wait()
        return loss
