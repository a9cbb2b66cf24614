"""no_sync() turns synchronisation into its opposite and back: nested, it sends inside.

loses = ["data_parallel.DistributedDataParallel.accumulation"]
says = ["no_sync"]
"""

_RightDistributedDataParallel = DistributedDataParallel


class DistributedDataParallel(_RightDistributedDataParallel):
    @contextmanager
    def no_sync(self):
        self.synchronizing = not self.synchronizing
        try:
            yield
        finally:
            self.synchronizing = not self.synchronizing
