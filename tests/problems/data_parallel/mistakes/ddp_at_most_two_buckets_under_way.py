"""Lets two buckets travel at most, and stands still for the older one.

loses = ["data_parallel.DistributedDataParallel.overlap"]
says = ["after its gradients are ready|us of a step|takes|moment"]
"""

_RightDistributedDataParallel = DistributedDataParallel


class DistributedDataParallel(_RightDistributedDataParallel):
    def _launch_next_bucket(self):
        if self.launched > 1:
            self.buckets[self.launched - 2].work.wait()
        super()._launch_next_bucket()
