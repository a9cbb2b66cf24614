"""The result is cut off from the graph, and backward reaches no parameter.

loses = ["data_parallel.DistributedDataParallel"]
says = ['gradient|grad']
"""


class DistributedDataParallel(DistributedDataParallel):
    def forward(self, *args, **kwargs):
        return self.module(*args, **kwargs).detach().requires_grad_()
