"""Buckets are launched as they become ready, in an order that differs by rank where a branch is unused.

mistake = 26
loses = ["data_parallel.DistributedDataParallel.unused", "data_parallel.DistributedDataParallel.accumulation"]
says = ['gradient|order']
"""


class DistributedDataParallel(DistributedDataParallel):
    def _gradient_ready(self, parameter):
        if not self.synchronizing:
            return
        bucket = self.bucket_of[parameter]
        bucket.pending.discard(parameter)
        if not bucket.pending:
            self._launch(bucket)

    @torch.no_grad()
    def _launch(self, bucket):
        bucket.flat = _flatten_gradients(bucket.parameters)
        bucket.work = dist.all_reduce(bucket.flat, group=self.group, async_op=True)

    def finish_gradient_synchronization(self):
        for bucket in self.buckets:
            if bucket.work is None:
                self._launch(bucket)
        with torch.no_grad():
            for bucket in self.buckets:
                bucket.work.wait()
                _unflatten_gradients(bucket.flat / dist.get_world_size(self.group), bucket.parameters)
                bucket.reset()
