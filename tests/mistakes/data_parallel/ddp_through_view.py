"""Gradients are flattened with view, which a transposed one refuses.

mistake = 28
loses = ["data_parallel.DistributedDataParallel.networks"]
says = ['view']
"""


class DistributedDataParallel(DistributedDataParallel):
    @torch.no_grad()
    def _launch_next_bucket(self):
        bucket = self.buckets[self.launched]
        bucket.flat = torch.cat([_gradient(parameter).view(-1) for parameter in bucket.parameters])
        bucket.work = dist.all_reduce(bucket.flat, group=self.group, async_op=True)
        self.launched += 1
