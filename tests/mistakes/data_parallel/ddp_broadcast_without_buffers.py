"""The constructor broadcasts parameters only.

mistake = 24
loses = ["data_parallel.DistributedDataParallel.networks"]
says = ['buffer']
"""


class DistributedDataParallel(DistributedDataParallel):
    def __init__(self, module, bucket_size_mb=25.0, group=None):
        nn.Module.__init__(self)
        self.module = module
        self.group = group
        self.synchronizing = True
        self.launched = 0
        with torch.no_grad():
            for parameter in module.parameters():
                message = parameter.detach().contiguous()
                dist.broadcast(message, 0 if group is None else dist.get_global_rank(group, 0), group)
                parameter.copy_(message)
        self.buckets = _fill_buckets(_trainable(module)[::-1], bucket_size_mb * BYTES_PER_MB)
        self.bucket_of = {parameter: bucket for bucket in self.buckets for parameter in bucket.parameters}
        for parameter in self.bucket_of:
            parameter.register_post_accumulate_grad_hook(self._gradient_ready)
