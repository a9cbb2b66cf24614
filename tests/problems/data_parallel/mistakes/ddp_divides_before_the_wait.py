"""The sum is divided and copied while it is still on its way; the wait comes last.

mistake = 31
loses = ["data_parallel.DistributedDataParallel"]
says = ['wait']
"""


class DistributedDataParallel(DistributedDataParallel):
    def finish_gradient_synchronization(self):
        while self.launched < len(self.buckets):
            self._launch_next_bucket()
        with torch.no_grad():
            for bucket in self.buckets:
                _unflatten_gradients(bucket.flat / dist.get_world_size(self.group), bucket.parameters)
                bucket.work.wait()
                bucket.reset()
        self.launched = 0
