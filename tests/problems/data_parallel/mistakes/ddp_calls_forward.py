"""module.forward is called, which skips the hooks that a user put on the module.

mistake = 33
loses = ["data_parallel.DistributedDataParallel.forward"]
says = ['hook']
"""


class DistributedDataParallel(DistributedDataParallel):
    def forward(self, *args, **kwargs):
        return self.module.forward(*args, **kwargs)
