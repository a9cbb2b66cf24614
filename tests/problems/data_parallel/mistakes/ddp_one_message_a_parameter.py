"""Bucketing in name only: a message for each parameter.

mistake = 30
loses = ["data_parallel.DistributedDataParallel.buckets"]
says = ['buckets|messages']
"""


class DistributedDataParallel(DistributedDataParallel):
    def __init__(self, module, bucket_size_mb=25.0, group=None):
        nn.Module.__init__(self)
        self.module = module
        self.group = group
        self.synchronizing = True
        self.launched = 0
        broadcast_parameters(module, 0 if group is None else dist.get_global_rank(group, 0), group)
        self.buckets = [_Bucket([parameter]) for parameter in _trainable(module)[::-1]]
        self.bucket_of = {parameter: bucket for bucket in self.buckets for parameter in bucket.parameters}
        for parameter in self.bucket_of:
            parameter.register_post_accumulate_grad_hook(self._gradient_ready)
