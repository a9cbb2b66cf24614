"""Buckets are divided by 2, however many ranks there are.

mistake = 25
loses = ["data_parallel.DistributedDataParallel"]
says = ['divided by 2']
"""


class DistributedDataParallel(DistributedDataParallel):
    def finish_gradient_synchronization(self):
        while self.launched < len(self.buckets):
            self._launch_next_bucket()
        with torch.no_grad():
            for bucket in self.buckets:
                bucket.work.wait()
                _unflatten_gradients(bucket.flat / 2, bucket.parameters)
                bucket.reset()
        self.launched = 0
