"""Each bucket is waited for where it is launched, and backward stands still meanwhile.

mistake = 32
loses = ["data_parallel.DistributedDataParallel.overlap"]
says = ['backward|waits?|bound']
"""


class DistributedDataParallel(DistributedDataParallel):
    def _launch_next_bucket(self):
        bucket = self.buckets[self.launched]
        super()._launch_next_bucket()
        bucket.work.wait()
