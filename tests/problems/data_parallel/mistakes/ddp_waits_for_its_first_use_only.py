"""The finish forgets to reset: the second step launches nothing and returns the first one's averages.

loses = ["data_parallel.DistributedDataParallel"]
says = ['step 2|second step']
"""


class DistributedDataParallel(DistributedDataParallel):
    def _gradient_ready(self, parameter):
        bucket = self.bucket_of[parameter]
        bucket.pending.discard(parameter)
        while self.synchronizing and self.launched < len(self.buckets) and not self.buckets[self.launched].pending:
            self._launch_next_bucket()

    def finish_gradient_synchronization(self):
        while self.launched < len(self.buckets):
            self._launch_next_bucket()
        with torch.no_grad():
            for bucket in self.buckets:
                bucket.work.wait()
                _unflatten_gradients(bucket.flat / dist.get_world_size(self.group), bucket.parameters)
