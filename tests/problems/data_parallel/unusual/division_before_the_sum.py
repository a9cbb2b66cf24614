"""Everywhere each rank divides its own gradient first, and the sum of those is the average.

may_lose = []
"""


def average_gradients(module, group=None):
    for parameter in _trainable(module):
        message = (_gradient(parameter) / dist.get_world_size(group)).contiguous()
        dist.all_reduce(message, group=group)
        parameter.grad.copy_(message)


def average_gradients_flat(module, group=None):
    dtypes = {parameter.dtype: None for parameter in _trainable(module)}
    for dtype in dtypes:
        parameters = [parameter for parameter in _trainable(module) if parameter.dtype == dtype]
        flat = _flatten_gradients(parameters).div_(dist.get_world_size(group))
        dist.all_reduce(flat, group=group)
        _unflatten_gradients(flat, parameters)


class DistributedDataParallel(DistributedDataParallel):
    @torch.no_grad()
    def _launch_next_bucket(self):
        bucket = self.buckets[self.launched]
        bucket.flat = _flatten_gradients(bucket.parameters) / dist.get_world_size(self.group)
        bucket.work = dist.all_reduce(bucket.flat, group=self.group, async_op=True)
        self.launched += 1

    def finish_gradient_synchronization(self):
        while self.launched < len(self.buckets):
            self._launch_next_bucket()
        for bucket in self.buckets:
            bucket.work.wait()
            _unflatten_gradients(bucket.flat, bucket.parameters)
            bucket.reset()
        self.launched = 0
