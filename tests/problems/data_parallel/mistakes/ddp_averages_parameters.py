"""The gradients are left alone and the parameters averaged in the next forward.

loses = ["data_parallel.DistributedDataParallel"]
says = ['gradient|ranks']
"""


class DistributedDataParallel(DistributedDataParallel):
    def forward(self, *args, **kwargs):
        with torch.no_grad():
            for parameter in self.module.parameters():
                message = parameter.detach().contiguous().clone()
                dist.all_reduce(message, group=self.group)
                parameter.copy_(message / dist.get_world_size(self.group))
        return self.module(*args, **kwargs)

    def _gradient_ready(self, parameter):
        pass

    def finish_gradient_synchronization(self):
        pass
