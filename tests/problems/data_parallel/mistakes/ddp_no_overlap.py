"""Everything is sent after backward.

mistake = 32
loses = ["data_parallel.DistributedDataParallel.overlap"]
says = ['backward']
"""


class DistributedDataParallel(DistributedDataParallel):
    def __init__(self, module, bucket_size_mb=25.0, group=None):
        nn.Module.__init__(self)
        self.module = module
        self.group = group
        self.synchronizing = True
        self.launched = 0
        broadcast_parameters(module, 0 if group is None else dist.get_global_rank(group, 0), group)
        self.buckets = _fill_buckets(_trainable(module)[::-1], bucket_size_mb * BYTES_PER_MB)
        self.bucket_of = {}
