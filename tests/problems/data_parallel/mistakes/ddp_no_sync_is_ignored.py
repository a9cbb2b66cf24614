"""no_sync changes nothing: every micro-batch is sent.

mistake = 29
loses = ["data_parallel.DistributedDataParallel.accumulation"]
says = ['no_sync']
"""


class DistributedDataParallel(DistributedDataParallel):
    def _gradient_ready(self, parameter):
        bucket = self.bucket_of[parameter]
        if bucket.work is not None:
            self.finish_gradient_synchronization()
        bucket.pending.discard(parameter)
        while self.launched < len(self.buckets) and not self.buckets[self.launched].pending:
            self._launch_next_bucket()
