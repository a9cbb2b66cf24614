"""A bucket with an unused parameter crashes when it is flattened.

mistake = 26
loses = ["data_parallel.DistributedDataParallel.unused"]
says = ['None|unused']
"""


class DistributedDataParallel(DistributedDataParallel):
    @torch.no_grad()
    def _launch_next_bucket(self):
        bucket = self.buckets[self.launched]
        bucket.flat = torch.cat([parameter.grad.reshape(-1) for parameter in bucket.parameters])
        bucket.work = dist.all_reduce(bucket.flat, group=self.group, async_op=True)
        self.launched += 1
