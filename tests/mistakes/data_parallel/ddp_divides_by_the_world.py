"""A group's sum is divided by the size of the world.

mistake = 25
loses = ["data_parallel.DistributedDataParallel"]
says = ['divided by']
"""


class DistributedDataParallel(DistributedDataParallel):
    def finish_gradient_synchronization(self):
        while self.launched < len(self.buckets):
            self._launch_next_bucket()
        with torch.no_grad():
            for bucket in self.buckets:
                bucket.work.wait()
                _unflatten_gradients(bucket.flat / dist.get_world_size(), bucket.parameters)
                bucket.reset()
        self.launched = 0
