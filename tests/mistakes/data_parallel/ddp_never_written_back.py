"""The averages stay in the buckets.

loses = ["data_parallel.DistributedDataParallel"]
says = ['own gradient']
"""


class DistributedDataParallel(DistributedDataParallel):
    def finish_gradient_synchronization(self):
        while self.launched < len(self.buckets):
            self._launch_next_bucket()
        for bucket in self.buckets:
            bucket.work.wait()
            bucket.flat /= dist.get_world_size(self.group)
            bucket.reset()
        self.launched = 0
