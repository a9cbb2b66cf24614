"""Tensor hooks fire before the gradient is accumulated, so that the bucket is sent without its last one.

loses = ["data_parallel.DistributedDataParallel"]
says = ['gradient']
"""


class DistributedDataParallel(DistributedDataParallel):
    def __init__(self, module, bucket_size_mb=25.0, group=None):
        super().__init__(module, bucket_size_mb, group)
        for parameter in self.bucket_of:
            parameter.register_hook(lambda gradient, parameter=parameter: self._gradient_ready_soon(parameter))

    def _gradient_ready(self, parameter):
        pass

    def _gradient_ready_soon(self, parameter):
        super()._gradient_ready(parameter)
