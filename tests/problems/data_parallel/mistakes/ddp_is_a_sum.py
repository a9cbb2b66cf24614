"""Buckets are summed and never divided.

mistake = 25
loses = ["data_parallel.DistributedDataParallel"]
says = ['not divided']
"""


class DistributedDataParallel(DistributedDataParallel):
    def finish_gradient_synchronization(self):
        while self.launched < len(self.buckets):
            self._launch_next_bucket()
        with torch.no_grad():
            for bucket in self.buckets:
                bucket.work.wait()
                _unflatten_gradients(bucket.flat, bucket.parameters)
                bucket.reset()
        self.launched = 0
