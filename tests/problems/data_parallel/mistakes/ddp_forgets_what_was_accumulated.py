"""Only parameters that the last micro-batch used are sent with what was accumulated; the others with zeros.

mistake = 29
loses = ["data_parallel.DistributedDataParallel.accumulation"]
says = ['gradient']
"""


class DistributedDataParallel(DistributedDataParallel):
    def finish_gradient_synchronization(self):
        for bucket in self.buckets:
            for parameter in bucket.pending:
                parameter.grad = None
        super().finish_gradient_synchronization()
