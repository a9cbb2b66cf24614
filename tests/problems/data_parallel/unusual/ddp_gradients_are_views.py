"""After the step each gradient is a view into its bucket's tensor instead of a copy.

may_lose = []
thorough = true
"""


class DistributedDataParallel(DistributedDataParallel):
    @torch.no_grad()
    def finish_gradient_synchronization(self):
        while self.launched < len(self.buckets):
            self._launch_next_bucket()
        for bucket in reversed(self.buckets):
            bucket.work.wait()
            average = bucket.flat / dist.get_world_size(self.group)
            start = 0
            for parameter in bucket.parameters:
                parameter.grad = average[start : start + parameter.numel()].view_as(parameter)
                start += parameter.numel()
            bucket.reset()
        self.launched = 0

    def __getattr__(self, name):
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(super().__getattr__("module"), name)
