"""A group without rank 0 is told to broadcast from rank 0.

loses = ["data_parallel.DistributedDataParallel"]
says = ['rank 0|src|group']
"""


class DistributedDataParallel(DistributedDataParallel):
    def __init__(self, module, bucket_size_mb=25.0, group=None):
        nn.Module.__init__(self)
        self.module = module
        self.group = group
        self.synchronizing = True
        self.launched = 0
        broadcast_parameters(module, 0, group)
        self.buckets = _fill_buckets(_trainable(module)[::-1], bucket_size_mb * BYTES_PER_MB)
        self.bucket_of = {parameter: bucket for bucket in self.buckets for parameter in bucket.parameters}
        for parameter in self.bucket_of:
            parameter.register_post_accumulate_grad_hook(self._gradient_ready)
