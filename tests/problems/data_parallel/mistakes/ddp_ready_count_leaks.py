"""What an incomplete bucket still waits for is kept for the next step, which launches it too early.

mistake = 27
loses = ["data_parallel.DistributedDataParallel.unused", "data_parallel.DistributedDataParallel.accumulation"]
says = ['gradient']
"""


class DistributedDataParallel(DistributedDataParallel):
    def _gradient_ready(self, parameter):
        if not self.synchronizing:
            return
        bucket = self.bucket_of[parameter]
        bucket.ready = getattr(bucket, "ready", 0) + 1
        if bucket.ready % len(bucket.parameters) == 0:
            bucket.pending.clear()
        while self.launched < len(self.buckets) and not self.buckets[self.launched].pending:
            self._launch_next_bucket()
