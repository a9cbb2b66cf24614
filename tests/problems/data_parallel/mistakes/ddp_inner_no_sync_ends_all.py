"""no_sync() switches synchronisation on at its end, whatever was before: an inner one ends the outer one, too.

loses = ["data_parallel.DistributedDataParallel.accumulation"]
says = ["no_sync"]
"""

_RightDistributedDataParallel = DistributedDataParallel


class DistributedDataParallel(_RightDistributedDataParallel):
    @contextmanager
    def no_sync(self):
        self.synchronizing = False
        try:
            yield
        finally:
            self.synchronizing = True
