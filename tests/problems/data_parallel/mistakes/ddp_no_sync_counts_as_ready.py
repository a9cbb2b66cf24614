"""Gradients inside no_sync count towards complete buckets, which the last micro-batch then launches too early.

mistake = 29
loses = ["data_parallel.DistributedDataParallel.accumulation"]
says = ['micro-batch|gradient']
"""


class DistributedDataParallel(DistributedDataParallel):
    def _gradient_ready(self, parameter):
        self.bucket_of[parameter].pending.discard(parameter)
        while self.synchronizing and self.launched < len(self.buckets) and not self.buckets[self.launched].pending:
            self._launch_next_bucket()
