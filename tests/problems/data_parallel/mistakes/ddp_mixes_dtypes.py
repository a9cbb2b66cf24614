"""A bucket takes parameters of any dtype, and float32 gradients travel as float64.

mistake = 30
loses = ["data_parallel.DistributedDataParallel.buckets"]
says = ['bytes']
"""


class DistributedDataParallel(DistributedDataParallel):
    def __init__(self, module, bucket_size_mb=25.0, group=None):
        super().__init__(module, bucket_size_mb, group)
        runs = [[]]
        for parameter in _trainable(module)[::-1]:
            if runs[-1] and sum(p.nbytes for p in runs[-1]) + parameter.nbytes > bucket_size_mb * BYTES_PER_MB:
                runs.append([])
            runs[-1].append(parameter)
        self.buckets = [_Bucket(run) for run in runs if run]
        self.bucket_of = {parameter: bucket for bucket in self.buckets for parameter in bucket.parameters}
