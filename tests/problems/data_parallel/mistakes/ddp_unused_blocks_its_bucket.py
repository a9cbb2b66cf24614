"""A bucket that backward did not complete is never sent, and its other gradients stay local.

mistake = 27
loses = ["data_parallel.DistributedDataParallel.unused", "data_parallel.DistributedDataParallel.accumulation"]
says = ['own gradient|has returned']
"""


class DistributedDataParallel(DistributedDataParallel):
    def finish_gradient_synchronization(self):
        with torch.no_grad():
            for bucket in self.buckets:
                if bucket.work is not None:
                    bucket.work.wait()
                    _unflatten_gradients(bucket.flat / dist.get_world_size(self.group), bucket.parameters)
                bucket.reset()
        self.launched = 0
