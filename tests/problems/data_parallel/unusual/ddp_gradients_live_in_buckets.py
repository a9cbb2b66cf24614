"""Gradients are views into their buckets for good; a zeroed one stays where it is, a missing one is put back in forward.

may_lose = []
"""


class DistributedDataParallel(DistributedDataParallel):
    def __init__(self, module, bucket_size_mb=25.0, group=None):
        super().__init__(module, bucket_size_mb, group)
        self.stores = []
        for bucket in self.buckets:
            first = bucket.parameters[0]
            store = torch.zeros(sum(p.numel() for p in bucket.parameters), dtype=first.dtype, device=first.device)
            pieces = store.split([p.numel() for p in bucket.parameters])
            self.stores.append((store, [piece.view(p.shape) for p, piece in zip(bucket.parameters, pieces)]))

    def forward(self, *args, **kwargs):
        with torch.no_grad():
            for bucket, (_, views) in zip(self.buckets, self.stores):
                for parameter, view in zip(bucket.parameters, views):
                    if parameter.grad is None:
                        parameter.grad = view.zero_()
        return super().forward(*args, **kwargs)

    def _launch_next_bucket(self):
        store = self.stores[self.launched][0]
        work = dist.all_reduce(store, group=self.group, async_op=True)
        self.buckets[self.launched].work = work
        self.launched += 1

    def finish_gradient_synchronization(self):
        while self.launched < len(self.buckets):
            self._launch_next_bucket()
        torch.futures.wait_all([bucket.work.get_future() for bucket in self.buckets])
        for bucket, (store, _) in zip(self.buckets, self.stores):
            bucket.work.wait()
            store.div_(dist.get_world_size(self.group))
            bucket.reset()
        self.launched = 0
