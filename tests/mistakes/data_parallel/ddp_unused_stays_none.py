"""A rank that did not use a parameter sends zeros but drops the others' average.

mistake = 26
loses = ["data_parallel.DistributedDataParallel.unused"]
says = ['None']
"""


class DistributedDataParallel(DistributedDataParallel):
    def finish_gradient_synchronization(self):
        unused = [parameter for parameter in self.bucket_of if parameter.grad is None]
        super().finish_gradient_synchronization()
        for parameter in unused:
            parameter.grad = None
