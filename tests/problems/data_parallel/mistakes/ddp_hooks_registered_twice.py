"""Hooks are registered for each use of a tied parameter, so that it counts twice.

mistake = 32
loses = ["data_parallel.DistributedDataParallel.networks"]
says = ['tied|gradient']
"""


class DistributedDataParallel(DistributedDataParallel):
    def __init__(self, module, bucket_size_mb=25.0, group=None):
        super().__init__(module, bucket_size_mb, group)
        for bucket in self.buckets:
            bucket.arrived = 0
        seen = set()
        for _, parameter in module.named_parameters(remove_duplicate=False):
            if parameter in seen and parameter.requires_grad:
                parameter.register_post_accumulate_grad_hook(self._gradient_ready)
            seen.add(parameter)

    def _gradient_ready(self, parameter):
        if not self.synchronizing:
            return
        bucket = self.bucket_of[parameter]
        bucket.arrived += 1
        if bucket.arrived == len(bucket.parameters):
            bucket.pending.clear()
        while self.launched < len(self.buckets) and not self.buckets[self.launched].pending:
            self._launch_next_bucket()

    def finish_gradient_synchronization(self):
        super().finish_gradient_synchronization()
        for bucket in self.buckets:
            bucket.arrived = 0
