"""Each hook copies its gradient into its place in a bucket's tensor, which is allocated once.

may_lose = []
thorough = true
"""


class DistributedDataParallel(DistributedDataParallel):
    def __init__(self, module, bucket_size_mb=25.0, group=None):
        super().__init__(module, bucket_size_mb, group)
        self.place = {}
        for bucket in self.buckets:
            first = bucket.parameters[0]
            total = sum(parameter.numel() for parameter in bucket.parameters)
            bucket.store = torch.zeros(total, dtype=first.dtype, device=first.device)
            pieces = bucket.store.split([parameter.numel() for parameter in bucket.parameters])
            for parameter, piece in zip(bucket.parameters, pieces):
                self.place[parameter] = piece.view(parameter.shape)

    def _gradient_ready(self, parameter):
        if self.synchronizing:
            with torch.no_grad():
                self.place[parameter].copy_(parameter.grad)
        super()._gradient_ready(parameter)

    @torch.no_grad()
    def _launch_next_bucket(self):
        bucket = self.buckets[self.launched]
        for parameter in bucket.pending:
            self.place[parameter].copy_(0 * parameter if parameter.grad is None else parameter.grad)
        bucket.work = dist.all_reduce(bucket.store, group=self.group, async_op=True)
        self.launched += 1

    @torch.no_grad()
    def finish_gradient_synchronization(self):
        while self.launched < len(self.buckets):
            self._launch_next_bucket()
        for bucket in self.buckets:
            bucket.work.wait()
            bucket.store.div_(dist.get_world_size(self.group))
            for parameter in bucket.parameters:
                parameter.grad = self.place[parameter].clone()
            bucket.reset()
        self.launched = 0
