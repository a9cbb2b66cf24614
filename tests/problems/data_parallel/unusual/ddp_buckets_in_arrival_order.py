"""After a first step, buckets are filled anew in the order in which the first rank's gradients arrived.

may_lose = []
"""


class DistributedDataParallel(DistributedDataParallel):
    def __init__(self, module, bucket_size_mb=25.0, group=None):
        super().__init__(module, bucket_size_mb, group)
        self.capacity = bucket_size_mb * BYTES_PER_MB
        self.arrived = []

    def _gradient_ready(self, parameter):
        if self.synchronizing and self.arrived is not None and parameter not in set(self.arrived):
            self.arrived.append(parameter)
        super()._gradient_ready(parameter)

    def finish_gradient_synchronization(self):
        super().finish_gradient_synchronization()
        if self.arrived is None or not self.bucket_of:
            return
        parameters = list(self.bucket_of)
        index = {parameter: position for position, parameter in enumerate(parameters)}
        never = [parameter for parameter in parameters if parameter not in set(self.arrived)]
        order = torch.tensor([index[parameter] for parameter in self.arrived + never])
        first = 0 if self.group is None else dist.get_global_rank(self.group, 0)
        dist.broadcast(order, src=first, group=self.group)
        self.buckets = _fill_buckets([parameters[position] for position in order.tolist()], self.capacity)
        self.bucket_of = {parameter: bucket for bucket in self.buckets for parameter in bucket.parameters}
        self.arrived = None
