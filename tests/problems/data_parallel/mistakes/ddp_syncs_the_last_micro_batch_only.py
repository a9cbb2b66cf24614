"""The last micro-batch's own gradient is averaged; what was accumulated before stays local.

mistake = 29
loses = ["data_parallel.DistributedDataParallel.accumulation"]
says = ['micro-batch|differs']
"""


class DistributedDataParallel(DistributedDataParallel):
    @contextmanager
    def no_sync(self):
        with super().no_sync():
            yield
        for parameter in self.bucket_of:
            parameter.kept = None if parameter.grad is None else parameter.grad.clone()

    def _launch_next_bucket(self):
        with torch.no_grad():
            for parameter in self.buckets[self.launched].parameters:
                if getattr(parameter, "kept", None) is not None:
                    parameter.grad.sub_(parameter.kept)
        super()._launch_next_bucket()

    def finish_gradient_synchronization(self):
        super().finish_gradient_synchronization()
        with torch.no_grad():
            for parameter in self.bucket_of:
                if getattr(parameter, "kept", None) is not None:
                    parameter.grad.add_(parameter.kept)
                parameter.kept = None
