"""A step's bookkeeping is made at the beginning of each synchronised forward, and finish may be called twice.

may_lose = []
thorough = true
"""


class DistributedDataParallel(DistributedDataParallel):
    def forward(self, *args, **kwargs):
        if self.synchronizing:
            for bucket in self.buckets:
                bucket.reset()
            self.launched = 0
        return self.module(*args, **kwargs)

    @torch.no_grad()
    def finish_gradient_synchronization(self):
        while self.launched < len(self.buckets):
            self._launch_next_bucket()
        for bucket in self.buckets:
            if bucket.work is not None:
                bucket.work.wait()
                _unflatten_gradients(bucket.flat / dist.get_world_size(self.group), bucket.parameters)
                bucket.work = None
