"""After the first no_sync nothing is launched during backward any more.

mistake = 29
loses = ["data_parallel.DistributedDataParallel.accumulation"]
says = ['during backward|no_sync']
"""


class DistributedDataParallel(DistributedDataParallel):
    @contextmanager
    def no_sync(self):
        self.synchronizing = False
        yield
