"""Each micro-batch's average is summed again with the others at the end of the step.

mistake = 29
loses = ["data_parallel.DistributedDataParallel.accumulation"]
says = ['no_sync|messages|gradient']
"""


class DistributedDataParallel(DistributedDataParallel):
    @contextmanager
    def no_sync(self):
        yield
        self.finish_gradient_synchronization()

    def finish_gradient_synchronization(self):
        while self.launched < len(self.buckets):
            self._launch_next_bucket()
        with torch.no_grad():
            for bucket in self.buckets:
                bucket.work.wait()
                _unflatten_gradients(bucket.flat / dist.get_world_size(self.group), bucket.parameters)
                bucket.reset()
        self.launched = 0
