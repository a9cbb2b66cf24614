"""Ranks tell each other which gradients exist, and one that no rank has stays None.

may_lose = []
"""


def _exists_somewhere(parameters, group):
    exists = torch.tensor([float(parameter.grad is not None) for parameter in parameters])
    if parameters:
        dist.all_reduce(exists, op=dist.ReduceOp.MAX, group=group)
    return exists.bool().tolist()


def average_gradients(module, group=None):
    parameters = _trainable(module)
    for parameter, exists in zip(parameters, _exists_somewhere(parameters, group)):
        if exists:
            message = _gradient(parameter).contiguous()
            dist.all_reduce(message, group=group)
            parameter.grad.copy_(message / dist.get_world_size(group))


class DistributedDataParallel(DistributedDataParallel):
    def finish_gradient_synchronization(self):
        parameters = list(self.bucket_of)
        exists = {}
        if parameters:
            missing = torch.tensor([parameter.grad is None for parameter in parameters])
            used = torch.zeros(len(parameters)).masked_fill_(~missing, 1.0)
        while self.launched < len(self.buckets):
            self._launch_next_bucket()
        if parameters:
            dist.all_reduce(used, group=self.group)
            exists = dict(zip(parameters, used.tolist()))
        super().finish_gradient_synchronization()
        for parameter in parameters:
            if not exists[parameter]:
                parameter.grad = None
