"""Waits for the bucket before it, then launches the next: backward stands still until then.

loses = ["data_parallel.DistributedDataParallel.overlap"]
says = ["after its gradients are ready|us of a step|takes|moment"]
"""

_RightDistributedDataParallel = DistributedDataParallel


class DistributedDataParallel(_RightDistributedDataParallel):
    def _launch_next_bucket(self):
        if self.launched:
            self.buckets[self.launched - 1].work.wait()
        super()._launch_next_bucket()
