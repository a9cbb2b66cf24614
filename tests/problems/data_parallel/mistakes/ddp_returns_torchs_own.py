"""torch's own wrapper does the work.

mistake = 32
loses = ["data_parallel.DistributedDataParallel"]
says = ['not allowed|refused|torch.nn.parallel']
"""


class DistributedDataParallel(nn.parallel.DistributedDataParallel):
    def __init__(self, module, bucket_size_mb=25.0, group=None):
        super().__init__(module, bucket_cap_mb=bucket_size_mb, process_group=group, find_unused_parameters=True)

    def finish_gradient_synchronization(self):
        pass
