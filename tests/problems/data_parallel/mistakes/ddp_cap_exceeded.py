"""A bucket is closed only after it has grown over the cap.

mistake = 30
loses = ["data_parallel.DistributedDataParallel.buckets", "data_parallel.DistributedDataParallel.overlap"]
says = ['cap']
"""


class DistributedDataParallel(DistributedDataParallel):
    def __init__(self, module, bucket_size_mb=25.0, group=None):
        super().__init__(module, bucket_size_mb, group)
        self.buckets = []
        runs = {}
        for parameter in _trainable(module)[::-1]:
            run = runs.setdefault(parameter.dtype, [])
            run.append(parameter)
            if sum(member.nbytes for member in run) >= bucket_size_mb * BYTES_PER_MB:
                self.buckets.append(_Bucket(runs.pop(parameter.dtype)))
        self.buckets += [_Bucket(run) for run in runs.values()]
        self.bucket_of = {parameter: bucket for bucket in self.buckets for parameter in bucket.parameters}
