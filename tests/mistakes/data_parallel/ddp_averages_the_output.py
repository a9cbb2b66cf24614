"""The ranks average their outputs instead of their gradients.

loses = ["data_parallel.DistributedDataParallel"]
says = ['gradient']
"""


class DistributedDataParallel(DistributedDataParallel):
    def forward(self, *args, **kwargs):
        output = self.module(*args, **kwargs)
        total = output.detach().clone()
        dist.all_reduce(total, group=self.group)
        return output + (total / dist.get_world_size(self.group) - output).detach()

    def _gradient_ready(self, parameter):
        pass

    def finish_gradient_synchronization(self):
        pass
